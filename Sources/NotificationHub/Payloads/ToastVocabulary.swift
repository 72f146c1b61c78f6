/// The elements and attributes of a Windows toast, as Microsoft's schema had them in November 2026.
extension PayloadVocabulary {
    /// Everything in a toast that Windows ignores or refuses.
    package static func findings(in toast: XMLElement) -> [PayloadFinding] {
        var inspection = PayloadInspection("Windows")
        if toast.name == "toast" {
            inspect(toast, at: ["toast"], &inspection)
        } else {
            inspection.report(
                .wrongValue, [toast.name], "must be <toast>, because other notifications need other headers")
        }
        return inspection.findings
    }

    private static func inspect(_ element: XMLElement, at path: [String], _ inspection: inout PayloadInspection) {
        guard let rule = elements[element.name] else { return }
        for attribute in element.attributes {
            let place = path + [attribute.name]
            guard let expected = rule.attributes[attribute.name] else {
                inspection.report(.ignored, place, "is no attribute that Windows knows")
                continue
            }
            // Attributes are texts, whatever their meaning.
            if !fits(attribute.value, expected, inspection) {
                inspection.report(.wrongValue, place, "must be \(expected.expectation)")
            }
        }
        for child in element.elements {
            if rule.children.contains(child.name) {
                inspect(child, at: path + [child.name], &inspection)
            } else {
                inspection.report(.ignored, path + [child.name], "is no element that Windows knows here")
            }
        }
    }

    private static func fits(_ text: String, _ member: PayloadMember, _ inspection: PayloadInspection) -> Bool {
        switch member {
        case .flag: ["true", "false"].contains(text) || text.contains("{{")
        case .whole: Int(text) != nil || text.contains("{{")
        default: inspection.fits(.string(text), member)
        }
    }

    private struct Rule {
        var children: Set<String> = []
        var attributes: [String: PayloadMember] = [:]
    }

    private static let activation = PayloadMember.word(["foreground", "background", "protocol", "system"])
    private static let templates =
        ["ToastGeneric"] + (1...4).flatMap { ["ToastText0\($0)", "ToastImageAndText0\($0)"] }
    private static let styles: [String: PayloadMember] = [
        "id": .text, "lang": .text, "placement": .word(["attribution"]), "hint-style": .text, "hint-wrap": .flag,
        "hint-maxLines": .whole, "hint-minLines": .whole, "hint-align": .text, "hint-callScenarioCenterAlign": .flag,
    ]

    private static let elements: [String: Rule] = [
        "toast": Rule(
            children: ["visual", "audio", "actions", "header", "commands"],
            attributes: [
                "launch": .text, "duration": .word(["short", "long"]), "displayTimestamp": .text,
                "scenario": .word(["default", "alarm", "reminder", "incomingCall", "urgent"]),
                "useButtonStyle": .flag, "activationType": activation, "hint-toastId": .text,
            ]),
        "visual": Rule(
            children: ["binding"],
            attributes: ["lang": .text, "baseUri": .text, "addImageQuery": .flag, "version": .whole, "branding": .text]
        ),
        "binding": Rule(
            children: ["text", "image", "group", "progress"],
            attributes: [
                "template": .word(templates), "fallback": .text, "lang": .text, "baseUri": .text,
                "addImageQuery": .flag, "branding": .text, "experienceType": .text,
            ]),
        "text": Rule(attributes: styles),
        "image": Rule(attributes: [
            "id": .text, "src": .text, "alt": .text, "addImageQuery": .flag, "spriteSheet-src": .text,
            "placement": .word(["appLogoOverride", "hero", "inline"]), "hint-crop": .word(["circle", "none"]),
            "hint-align": .text, "hint-removeMargin": .flag,
        ]),
        "group": Rule(children: ["subgroup"]),
        "subgroup": Rule(
            children: ["text", "image"], attributes: ["hint-weight": .whole, "hint-textStacking": .text]),
        "progress": Rule(attributes: [
            "title": .text, "value": .text, "valueStringOverride": .text, "status": .text,
        ]),
        "audio": Rule(attributes: ["src": .text, "loop": .flag, "silent": .flag]),
        "header": Rule(attributes: [
            "id": .text, "title": .text, "arguments": .text, "activationType": activation,
        ]),
        "actions": Rule(children: ["action", "input"], attributes: ["hint-systemCommands": .text]),
        "input": Rule(
            children: ["selection"],
            attributes: [
                "id": .text, "type": .word(["text", "selection"]), "placeHolderContent": .text, "title": .text,
                "defaultInput": .text,
            ]),
        "selection": Rule(attributes: ["id": .text, "content": .text]),
        "action": Rule(attributes: [
            "content": .text, "arguments": .text, "activationType": activation, "imageUri": .text,
            "placement": .word(["contextMenu"]), "hint-inputId": .text, "hint-buttonStyle": .text,
            "hint-toolTip": .text, "hint-actionId": .text, "protocolActivationTargetApplicationPfn": .text,
            "afterActivationBehavior": .word(["default", "pendingUpdate"]),
        ]),
    ]
}
