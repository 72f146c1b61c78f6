import Foundation
import Logging
import NewsModel

/// Writes each log event as one line to standard error: JSON for machines, text for a terminal.
struct LogLineHandler: LogHandler {
    enum Format: Sendable {
        case json
        /// Colours only when asked.
        case text(isColoured: Bool)
    }

    var label: String
    var format: Format
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    /// Holds for all loggers, save those with a level of their own.
    var threshold: LogThreshold
    private var ownLevel: Logger.Level?
    /// One whole line, line break included. Lines of several threads must not mix: one call, one write.
    var write: @Sendable (String) -> Void
    var now: @Sendable () -> Instant

    init(
        label: String, format: Format, threshold: LogThreshold, write: @escaping @Sendable (String) -> Void,
        now: @escaping @Sendable () -> Instant
    ) {
        self.label = label
        self.format = format
        self.threshold = threshold
        self.write = write
        self.now = now
    }

    var logLevel: Logger.Level {
        get { ownLevel ?? threshold.level }
        set { ownLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let own = event.metadata { all.merge(own) { $1 } }
        let fields = all.sorted { $0.key < $1.key }
        switch format {
        case .json: write(json(event, fields))
        case .text(let isColoured): write(text(event, fields, isColoured: isColoured))
        }
    }

    private func json(_ event: LogEvent, _ fields: [(key: String, value: Logger.Metadata.Value)]) -> String {
        var line = JSONWriter.object { json in
            json.field("time", now())
            json.field("level", event.level.rawValue)
            json.field("message", "\(event.message)")
            json.field("source", label)
            for field in fields {
                // The names above are the line's own.
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
        for field in fields {
            line += " \(field.key)=" + Self.plain("\(field.value)")
        }
        if let error = event.error { line += " error=" + Self.plain("\(error)") }
        return line + "\n"
    }

    /// A value from outside must not begin a line of its own or move the cursor.
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
    /// Makes it the process's log, once. `auto` is text on a terminal and JSON elsewhere.
    @discardableResult
    static func install(level: String, format: String) -> LogThreshold {
        let isText = format == "text" || format == "auto" && Terminal.standardError.isInteractive
        let format: Format = isText ? .text(isColoured: Terminal.standardError.hasColours) : .json
        let threshold = LogThreshold(Logger.Level(rawValue: level) ?? .info)
        LoggingSystem.bootstrap { label in
            LogLineHandler(
                label: label, format: format, threshold: threshold,
                write: { Terminal.standardError.write($0) }, now: { .now })
        }
        return threshold
    }
}

extension Instant {
    /// The wall clock's time, to the millisecond.
    static var now: Instant {
        Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    }
}
