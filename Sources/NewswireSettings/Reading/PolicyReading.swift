import ByteText
import Foundation
import NotificationHub
package import PublishEngine

extension ContentPolicy {
    /// - Parameter hasFeeds: true if events of other people's feeds reach this process.
    init(_ reader: inout SettingsReader, hasFeeds: Bool) {
        self.init()
        environment = reader.text("environment")
        let isProduction = environment?.lowercased() == Self.production
        acceptsUnstamped = reader.boolean("acceptUnstamped") ?? !(isProduction && hasFeeds)
        testTag = reader.text("test.tag")
        users = UserTags(&reader)
        var zones: [String: ClockZone] = [:]
        quietHours = reader.names(under: "quiet").map { QuietHours("quiet" / $0, &reader, &zones) }
    }
}

/// The words of `users.tag`.
enum UserTagForm: String, CaseIterable {
    case userId, plain
}

extension UserTags {
    /// Reports plain tags without a secret, because anybody could make their signatures.
    fileprivate init(_ reader: inout SettingsReader) {
        let form = reader.text("users.tag").flatMap(UserTagForm.init(rawValue:)) ?? .userId
        guard let secret = reader.text("users.secret") else {
            if form == .plain {
                reader.report(
                    "users.secret", "is missing: without it any app could make the tag of any user",
                    "write the secret that your back end signs with, e.g. ${file:/run/secrets/users}")
            }
            self = .reserved()
            return
        }
        if secret.utf8.count < Self.secretLengthMin {
            reader.report("users.secret", "is too short", "use at least \(Self.secretLengthMin) random characters")
        }
        self = form == .plain ? .signed(with: AccessKey(secret)) : .reserved(secret: AccessKey(secret))
    }
}

extension QuietHours {
    /// - Parameter zones: the zones that were already looked up.
    fileprivate init(_ path: SettingsPath, _ reader: inout SettingsReader, _ zones: inout [String: ClockZone]) {
        let from = reader.timeOfDay(path / "from")
        let to = reader.timeOfDay(path / "to")
        var zone = ClockZone.utc
        if let name = reader.text(path / "zone") {
            if let known = zones[name] ?? ClockZone(named: name) {
                zones[name] = known
                zone = known
            } else {
                reader.report(
                    path / "zone", "'\(name.prefix(60))' is not a time zone of this machine",
                    "write a name such as Europe/Berlin, America/New_York or UTC")
            }
        }
        if from == to, reader.isSound(path / "from"), reader.isSound(path / "to") {
            reader.report(path / "to", "is when they begin", "write when they end; all day is \"00:00\" to \"24:00\"")
        }
        self.init(
            categories: reader.texts(path / "categories"), window: DailyWindow(from: from, to: to, zone: zone),
            action: reader.text(path / "do").flatMap(Action.init(rawValue:)) ?? .silent,
            exceptUrgency: reader.isGiven(path / "exceptUrgency") ? reader.integerOrWord(path / "exceptUrgency") : nil)
    }
}

extension SettingsReader {
    /// Reads a time of day as minutes after midnight.
    fileprivate mutating func timeOfDay(_ path: SettingsPath) -> Int {
        guard let text = text(path) else { return 0 }
        if let minutes = minutesAfterMidnight(text) { return minutes }
        report(path, "'\(text.prefix(20))' is not a time of day", "write hours and minutes in quotes, e.g. \"22:00\"")
        return 0
    }
}

extension ClockZone {
    /// The number of days for which a zone's clocks are known: from three years ago, for `explain --at`, to ten years ahead.
    /// After that its clocks stay as they are, until the next start or reload.
    private static let days = 4_748
    private static let daysBefore = 1_096

    /// - Returns: `nil` if this machine has no zone of that name.
    package init?(named name: String) { self.init(named: name, now: Date()) }

    private init?(named name: String, now: Date) {
        guard let zone = TimeZone(identifier: name) else { return nil }
        func offset(_ seconds: Int) -> Int { zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds))) }
        let day = 86_400
        var before = Int(now.timeIntervalSince1970) - Self.daysBefore * day
        self.init(name: name, offset: offset(before))
        // Compares offsets instead of asking for the next change, because not every change is one of daylight saving time.
        for _ in 0..<Self.days {
            let after = before + day
            let known = offset(before)
            if offset(after) != known {
                var (low, high) = (before, after)
                while high - low > 1 {
                    let middle = low + (high - low) / 2
                    if offset(middle) == known { low = middle } else { high = middle }
                }
                changes.append(Change(at: high, offset: offset(after)))
            }
            before = after
        }
    }
}
