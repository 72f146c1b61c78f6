import Backfill

/// Reading single settings, with their defaults.
extension SettingsReader {
    mutating func text(_ path: SettingsPath) -> String? { if case .text(let text)? = value(path) { text } else { nil } }

    /// The setting, or a default that depends on the names around it.
    mutating func text(_ path: SettingsPath, otherwise fallback: String) -> String {
        if isGiven(path) { return text(path) ?? fallback }
        noteInForce(path, [fallback])
        return fallback
    }

    mutating func texts(_ path: SettingsPath, otherwise fallback: [String]) -> [String] {
        if isGiven(path) || fallback.isEmpty { return texts(path) }
        noteInForce(path, fallback, isList: true)
        return fallback
    }

    /// The number; 0 only for an absent setting without a default.
    mutating func integer(_ path: SettingsPath) -> Int { integerOrWord(path) ?? 0 }

    /// The number; `nil` for the word that may replace it.
    mutating func integerOrWord(_ path: SettingsPath) -> Int? {
        if case .integer(let integer)? = value(path) { integer } else { nil }
    }

    mutating func duration(_ path: SettingsPath) -> Duration { durationOrNone(path) ?? .zero }

    mutating func durationOrNone(_ path: SettingsPath) -> Duration? {
        if case .duration(let duration)? = value(path) { duration } else { nil }
    }

    /// The flag; `nil` only for an absent setting without a default.
    mutating func boolean(_ path: SettingsPath) -> Bool? {
        if case .boolean(let boolean)? = value(path) { boolean } else { nil }
    }

    mutating func address(_ path: SettingsPath) -> NetworkAddress? {
        if case .address(let address)? = value(path) { address } else { nil }
    }

    mutating func money(_ path: SettingsPath) -> Money? {
        if case .money(let money)? = value(path) { money } else { nil }
    }

    mutating func priceSteps(_ path: SettingsPath) -> [PushPrices.Step]? {
        if case .priceSteps(let steps)? = value(path) { steps } else { nil }
    }

    mutating func texts(_ path: SettingsPath) -> [String] {
        list(path).compactMap { if case .text(let text) = $0 { text } else { nil } }
    }

    mutating func addresses(_ path: SettingsPath) -> [NetworkAddress] {
        list(path).compactMap { if case .address(let address) = $0 { address } else { nil } }
    }

    mutating func secretFields(under path: SettingsPath) -> [SecretField] {
        names(under: path).compactMap { name in text(path / name).map { SecretField(name: name, value: Secret($0)) } }
    }

    private mutating func value(_ path: SettingsPath) -> SettingsKey.Kind.Value? {
        guard let key = SettingsKey.at(path) else { return nil }
        guard let node = given(path, key) else { return fallback(path, key) }
        guard let raw = node.text(for: key.kind) else {
            report(
                path, "expected a single value, found \(node.kindName)", "write \(key.kind.expectation)", at: node.place
            )
            return fallback(path, key)
        }
        guard let (value, shown, actual) = understand(raw, at: node.place, path, key) else {
            return fallback(path, key)
        }
        noteInForce(path, [shown], actual: [actual], at: node.place)
        return value
    }

    private mutating func list(_ path: SettingsPath) -> [SettingsKey.Kind.Value] {
        guard let key = SettingsKey.at(path), let node = given(path, key) else { return [] }
        var items: [(String, SettingsPlace)] = []
        switch node.content {
        case .scalar(let raw):
            // One value may contain several, separated by commas, so that a variable can contain them too.
            items = [(raw, node.place)]
        case .list(let nodes):
            for item in nodes {
                if case .scalar(let raw) = item.content {
                    items.append((raw, item.place))
                } else {
                    report(
                        path, "expected single values in the list, found \(item.kindName)",
                        "write \(key.kind.expectation)", at: item.place)
                }
            }
        case .mapping, .empty:
            report(path, "expected a list, found \(node.kindName)", "write \(key.kind.expectation)", at: node.place)
        }
        var values: [SettingsKey.Kind.Value] = []
        var shown: [String] = []
        for (raw, place) in items {
            guard let (filled, isFilledIn) = expand(raw, at: place, path) else { continue }
            let isSplit = isFilledIn || items.count == 1 && key.kind != .list(.text)
            for part in isSplit ? filled.split(separator: ",").map(Self.trimmed) : [filled] {
                guard let value = parse(part, isShown: !isFilledIn, at: place, path, key) else { continue }
                values.append(value)
                shown.append(part)
            }
        }
        if values.isEmpty, isSound(path), key.isRequired {
            report(path, "is empty", "write \(key.kind.expectation)", at: node.place)
        }
        noteInForce(path, shown, isList: true, at: node.place)
        return values
    }

    /// - Parameters:
    ///   - values: the values as they are shown.
    ///   - actual: the values, if they differ from those that are shown.
    mutating func noteInForce(
        _ path: SettingsPath, _ values: [String], isList: Bool = false, actual: [String]? = nil,
        at place: SettingsPlace? = nil
    ) {
        effective.append(
            EffectiveSetting(
                path: path, values: values, isList: isList, actual: (actual ?? values).map(Secret.init), place: place))
    }

    mutating func given(_ path: SettingsPath, _ key: SettingsKey) -> SettingsNode? {
        if let node = values[path] { return node }
        if key.isRequired, isSound(path), !isMisspelt(path) {
            report(path, "is missing", "write \(key.kind.expectation), or set \(path.environmentName)")
        }
        return nil
    }

    private mutating func fallback(_ path: SettingsPath, _ key: SettingsKey) -> SettingsKey.Kind.Value? {
        guard let fallback = key.fallback, case .success(let value) = key.kind.parse(fallback) else { return nil }
        if !isGiven(path), !key.isInList { noteInForce(path, [fallback]) }
        return value
    }

    private mutating func understand(
        _ raw: String, at place: SettingsPlace, _ path: SettingsPath, _ key: SettingsKey
    ) -> (value: SettingsKey.Kind.Value, shown: String, actual: String)? {
        guard let (filled, isFilledIn) = expand(raw, at: place, path) else { return nil }
        let isHidden = key.isSecret || EffectiveSetting.isSecret(path, isFilledIn: isFilledIn)
        guard let value = parse(filled, isShown: !isHidden && !isFilledIn, at: place, path, key) else { return nil }
        return (value, isHidden ? Secret.mask : EffectiveSetting.shown(filled, at: path), filled)
    }

    /// Expands a value of the file. Values of the environment are not expanded.
    mutating func expand(
        _ raw: String, at place: SettingsPlace, _ path: SettingsPath
    ) -> (text: String, isFilledIn: Bool)? {
        if case .environment = place { return (raw, true) }
        do {
            return try interpolation.expand(raw)
        } catch {
            report(path, error.message, error.remedy, at: place)
            return nil
        }
    }

    private mutating func parse(
        _ text: String, isShown: Bool, at place: SettingsPlace, _ path: SettingsPath, _ key: SettingsKey
    ) -> SettingsKey.Kind.Value? {
        switch key.kind.parse(text) {
        case .success(let value): return value
        case .failure(let misfit):
            // A value from elsewhere may be a secret in the wrong place.
            let subject = isShown ? "'\(text.prefix(60))'" : "the value"
            let message =
                switch misfit {
                case _ where text.isEmpty: "is empty"
                case .outOfRange: "\(subject) is out of range"
                case .notUnderstood: "\(subject) is not understood"
                }
            report(path, message, "write \(key.kind.expectation)", at: place)
            return nil
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        let start = text.drop { $0.isWhitespace }
        return String(start.reversed().drop { $0.isWhitespace }.reversed())
    }
}

extension SettingsNode {
    /// The text of one value. Pairs of prices are lists in the file and one text in the environment.
    fileprivate func text(for kind: SettingsKey.Kind) -> String? {
        switch content {
        case .scalar(let text): text
        case .list(let items) where kind == .priceSteps:
            "[" + items.map { $0.text(for: kind) ?? "null" }.joined(separator: ", ") + "]"
        case .list, .mapping, .empty: nil
        }
    }
}
