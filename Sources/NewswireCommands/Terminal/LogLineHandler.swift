import KafkaIO
package import Logging
package import NewsModel
import NewswireSettings
import Synchronization

/// Writes each log event as one line: JSON for machines, text for a terminal.
package struct LogLineHandler: LogHandler {
    package enum Format: Sendable {
        case json
        case text(isColoured: Bool)
    }

    private let label: String
    private let format: Format
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    /// The level of all loggers that have no level of their own.
    private let threshold: LogThreshold
    private var ownLevel: Logger.Level?
    /// Writes one whole line with its line break. Called on any thread; must not block.
    private let write: @Sendable (String) -> Void
    private let now: @Sendable () -> Instant

    package init(
        label: String, format: Format, threshold: LogThreshold, write: @escaping @Sendable (String) -> Void,
        now: @escaping @Sendable () -> Instant
    ) {
        (self.label, self.format, self.threshold, self.write, self.now) = (label, format, threshold, write, now)
    }

    package var logLevel: Logger.Level {
        get { ownLevel ?? threshold.level }
        set { ownLevel = newValue }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let own = event.metadata { all.merge(own) { $1 } }
        let fields = all.sorted { $0.key < $1.key }
        write(line(event, fields))
    }

    fileprivate func line(reportingLost count: Int) -> String {
        let event = LogEvent(
            level: .warning, message: "log lines dropped: nobody read the log in time", metadata: nil, source: nil,
            file: #fileID, function: #function, line: #line)
        return line(event, [("count", .stringConvertible(count))])
    }

    private func line(_ event: LogEvent, _ fields: [(key: String, value: Logger.Metadata.Value)]) -> String {
        switch format {
        case .json: json(event, fields)
        case .text(let isColoured): text(event, fields, isColoured: isColoured)
        }
    }

    private func json(_ event: LogEvent, _ fields: [(key: String, value: Logger.Metadata.Value)]) -> String {
        var line = JSONWriter.object { json in
            json.field("time", now())
            json.field("level", event.level.rawValue)
            json.field("message", "\(event.message)")
            json.field("source", label)
            for field in fields {
                // The names above are reserved for the line itself.
                let isTaken = ["time", "level", "message", "source"].contains(field.key)
                json.name(escaping: isTaken ? "metadata.\(field.key)" : field.key)
                Self.write(field.value, to: &json)
            }
            if let error = event.error { json.field("error", "\(error)") }
        }
        line.append(UInt8(ascii: "\n"))
        return String(decoding: line, as: UTF8.self)
    }

    private static func write(_ value: Logger.Metadata.Value, to json: inout JSONWriter) {
        switch value {
        case .string(let text): json.value(text)
        case .stringConvertible(let number as Int): json.value(number)
        case .stringConvertible(let number as Double): json.value(number)
        case .stringConvertible(let flag as Bool): json.value(flag)
        case .stringConvertible(let other): json.value(other.description)
        case .array(let values): json.array { json in for value in values { write(value, to: &json) } }
        case .dictionary(let values):
            json.object { json in
                for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                    json.name(escaping: name)
                    write(value, to: &json)
                }
            }
        }
    }

    private func text(
        _ event: LogEvent, _ fields: [(key: String, value: Logger.Metadata.Value)], isColoured: Bool
    ) -> String {
        let level = event.level.rawValue.uppercased()
        let time = String(now().description.dropFirst(11).prefix(12))
        var line = time + " " + (isColoured ? Self.colour(event.level).applied(to: level) : level)
        line += String(repeating: " ", count: max(1, 9 - level.count)) + "\(event.message)"
        for field in fields { line += " \(field.key)=" + Self.plain("\(field.value)") }
        if let error = event.error { line += " error=" + Self.plain("\(error)") }
        return line + "\n"
    }

    /// A value from outside must not start a new line or move the cursor.
    private static func plain(_ text: String) -> String {
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            scalar != "\"" && scalar != " " && scalar.properties.generalCategory != .control
        }
        if isPlain, !text.isEmpty { return text }
        var bytes: [UInt8] = []
        JSONWriter.write(into: &bytes) { $0.value(text) }
        return String(decoding: bytes, as: UTF8.self).filter { character in
            !character.unicodeScalars.contains { $0.properties.generalCategory == .control }
        }
    }

    private static func colour(_ level: Logger.Level) -> TerminalColour {
        switch level {
        case .trace, .debug: .grey
        case .info, .notice: .green
        case .warning: .yellow
        case .error, .critical: .red
        }
    }
}

extension LogLineHandler {
    private static let installed = Mutex<LogThreshold?>(nil)

    /// Installs the handler as the log of the process. A later call changes only the level.
    @discardableResult
    static func install(_ settings: Settings.Logging) -> LogThreshold {
        installed.withLock { installed in
            if let installed {
                installed.level = settings.level
                return installed
            }
            let threshold = bootstrap(settings)
            installed = threshold
            return threshold
        }
    }

    private static func bootstrap(_ settings: Settings.Logging) -> LogThreshold {
        let error = Terminal.standardError
        let isText = settings.format == .text || settings.format == .auto && error.isInteractive
        let format: Format = isText ? .text(isColoured: error.hasColours) : .json
        let threshold = LogThreshold(settings.level)
        let writer = LogWriter.standardError
        let handler = { @Sendable (label: String) in
            LogLineHandler(
                label: label, format: format, threshold: threshold, write: { writer.append($0) },
                now: { Instant(milliseconds: ServiceClock.wall.milliseconds) })
        }
        writer.reportLoss { handler("newswire").line(reportingLost: $0) }
        LoggingSystem.bootstrap(handler)
        return threshold
    }
}

/// The least severe level that the process logs. May change at any time.
package final class LogThreshold: Sendable {
    private static let levels = Logger.Level.allCases
    private let index: Atomic<Int>

    package init(_ level: Logger.Level) { index = Atomic(Self.index(of: level)) }

    var level: Logger.Level {
        // Read for every log event, so this is a plain load without a lock.
        get { Self.levels[index.load(ordering: .relaxed)] }
        set { index.store(Self.index(of: newValue), ordering: .relaxed) }
    }

    private static func index(of level: Logger.Level) -> Int { levels.firstIndex(of: level) ?? 0 }
}
