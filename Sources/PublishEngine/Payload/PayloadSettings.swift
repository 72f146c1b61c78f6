public import NotificationHub

/// The payloads to send: one template payload per event, or one native payload per platform.
public struct PayloadSettings: Sendable, Hashable {
    public var mode: Mode
    /// The text a phone shows, as a `MessageTemplate`.
    public var message: String
    /// In template mode, the names of each device's two templates. `nil`: one template, which cannot be made silent.
    public var templates: TemplateNames?
    /// The languages; `nil` if news has one language.
    public var localization: Localization?
    public var interruption = Interruption()
    public var timeToLive = TimeToLive()
    /// The bodies that the operator writes, by platform.
    package var native: [Platform: NativeBody] = [:]
    /// In template mode, the properties that are added to those of the payload or replace them.
    package var properties: [Property] = []

    package struct Property: Sendable, Hashable {
        package var name: String
        /// The value, with variables.
        package var template: String

        package init(name: String, template: String) { (self.name, self.template) = (name, template) }
    }

    /// The names of templates, which hubs treat as tags of the registration. A send names one; otherwise a device with
    /// both would show the news twice.
    public struct TemplateNames: Sendable, Hashable {
        public var normal: String
        /// The template without a sound.
        public var quiet: String

        public init(normal: String, quiet: String) {
            self.normal = normal
            self.quiet = quiet
        }

        /// The names that `BreakingNews` registers.
        public static let standard = TemplateNames(normal: "breakingNews", quiet: "breakingNewsQuiet")
    }

    public enum Mode: Sendable, Hashable {
        /// The hub expands one payload through each device's own template.
        case template
        /// The platforms in the order in which an event is sent.
        case native([Platform])
    }

    public init(
        mode: Mode = .template, message: String = PayloadSettings.standardMessage, templates: TemplateNames? = nil,
        localization: Localization? = nil
    ) {
        self.mode = mode
        self.message = message
        self.templates = templates
        self.localization = localization
    }

    /// The text of the tutorials.
    public static let standardMessage = "Breaking {{category}} News : {{headline}}"

    /// The platforms that each event is delivered for, in order.
    public var platforms: [Platform] {
        switch mode {
        case .template: [.template]
        case .native(let platforms): platforms
        }
    }

    /// Notifications can be sent so that they make no sound, on every platform.
    public var canBeSilent: Bool {
        switch mode {
        // The device's template decides.
        case .template: templates != nil
        case .native(let platforms): platforms.allSatisfy(\.facts.canBeSilent)
        }
    }

    /// An archive can be sent on every platform without disturbing anyone: without a sound, and in native mode without
    /// being shown.
    public var canBackfillSilently: Bool {
        switch mode {
        case .template: templates != nil
        case .native(let platforms): platforms.allSatisfy { $0.facts.background != nil }
        }
    }

    /// Problems of the settings, the message's included.
    public var problems: [PayloadProblem] {
        platformProblems + templateProblems + interruptionProblems + MessageTemplate.problems(in: message)
            + (localization?.problems ?? []) + nativeProblems + propertyProblems
    }

    private var interruptionProblems: [PayloadProblem] {
        guard interruption.hasQuiet, !canBeSilent else { return [] }
        return [
            PayloadProblem(
                path: ["payload", "interruption"], message: "names quiet, and not every notification can be silent",
                remedy: "set payload.templates in template mode; in native mode leave out platforms that always ring")
        ]
    }

    private var templateProblems: [PayloadProblem] {
        guard let templates else { return [] }
        var problems: [PayloadProblem] = []
        for (key, name) in [("normal", templates.normal), ("quiet", templates.quiet)] {
            do { _ = try Tag(name) } catch {
                problems.append(
                    PayloadProblem(
                        path: ["payload", "templates", key],
                        message: "'\(TextCut.excerpt(name))' cannot be a tag: \(error)",
                        remedy: "write the template's name as the app registers it"))
            }
        }
        if templates.normal.lowercased() == templates.quiet.lowercased() {
            problems.append(
                PayloadProblem(
                    path: ["payload", "templates", "quiet"], message: "is the template that makes a sound too",
                    remedy: "name the app's template without a sound"))
        }
        return problems
    }

    private var platformProblems: [PayloadProblem] {
        guard case .native(let platforms) = mode else { return [] }
        func problem(_ message: String, _ remedy: String) -> PayloadProblem {
            PayloadProblem(path: ["payload", "platforms"], message: message, remedy: remedy)
        }
        let known = Platform.native.map(\.rawValue).joined(separator: ", ")
        if platforms.isEmpty { return [problem("native mode names no platform", "name at least one of \(known)")] }
        var problems: [PayloadProblem] = []
        if platforms.contains(.template) {
            problems.append(problem("template is no native platform", "set payload.mode to template, or name \(known)"))
        }
        for platform in Platform.allCases where platforms.filter({ $0 == platform }).count > 1 {
            problems.append(
                problem("\(platform.rawValue) is named more than once", "name it once: each name is one send"))
        }
        return problems
    }
}
