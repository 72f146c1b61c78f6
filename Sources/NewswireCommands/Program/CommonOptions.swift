import ArgumentParser
import ByteText
import Foundation
import KafkaModel
import Logging
import NewsModel
import NewswireSettings
import PublishEngine

/// The option `--config FILE`.
struct ConfigurationOption: ParsableArguments {
    @Option(
        name: .long,
        help: .init(
            """
            The configuration file (YAML). Without this option: $\(SettingsFile.variable), or else the first that exists \
            of \(SettingsFile.standardPaths.joined(separator: " and ")).
            """, valueName: "file"), completion: .file())
    var config: String?

    /// The sections of the publisher. Commands that never call the hub do not need their keys.
    static let publisherSections: Set<String> = ["hub", "http", "tracing"]

    /// The path of the configuration; `nil` if the option is missing and no file is at any of the usual places.
    var found: String? { config ?? SettingsFile.standardPath() }

    /// A configuration that is missing or cannot be read.
    struct Unreadable: Error {
        var file: String?
        var message: String
        var remedy: String

        /// - Returns: the exit with 78, after writing the problem to standard error.
        func reported() -> ExitCode {
            notice("\(file.map { "\($0): " } ?? "")error: \(message); \(remedy)")
            return .badConfiguration
        }
    }

    /// - Throws: the exit with 78 if there is no file, after saying what to do.
    var path: String {
        get throws {
            do throws(Unreadable) { return try place() } catch { throw error.reported() }
        }
    }

    private func place() throws(Unreadable) -> String {
        if let found { return found }
        let places = SettingsFile.standardPaths.joined(separator: " nor ")
        throw Unreadable(
            message: "there is no configuration: neither \(places) exists",
            remedy: "name a file with --config or in $\(SettingsFile.variable), or write one with newswire init")
    }

    /// The settings of a command that does not call the hub.
    ///
    /// - Parameter sections: the sections that the command does not use.
    /// - Throws: the exit with 78, after writing all problems to standard error.
    func settings(leavingOut sections: Set<String> = publisherSections) throws -> Settings {
        try load(leavingOut: sections).usable
    }

    /// Reads the file and writes its problems, warnings included, to standard error.
    ///
    /// - Parameter sections: the sections that the command does not use.
    func load(leavingOut sections: Set<String> = []) throws -> LoadedSettings {
        do throws(Unreadable) { return try read(leavingOut: sections) } catch { throw error.reported() }
    }

    func read(leavingOut sections: Set<String> = []) throws(Unreadable) -> LoadedSettings {
        let path = try place()
        let loaded: LoadedSettings
        do {
            loaded = try SettingsFile(path: path).read(leavingOut: sections)
        } catch {
            throw Unreadable(file: path, message: "the file \(error)", remedy: "name another with --config")
        }
        for problem in loaded.problems { notice(problem.line(file: path)) }
        if !loaded.errors.isEmpty {
            notice("\(counted(loaded.errors.count, "problem")) in \(path)")
        }
        if let settings = loaded.settings { LogLineHandler.install(settings.logging) }
        return loaded
    }
}

/// The option `--log-level`, which overrides the configuration.
struct LogOption: ParsableArguments {
    @Option(
        name: .long,
        help: .init(
            "The least severe level to log: \(SettingsKey.logLevels.joined(separator: ", ")).", valueName: "level"),
        completion: .list(SettingsKey.logLevels))
    var logLevel: String?

    func validate() throws {
        guard let logLevel, level == nil else { return }
        throw ValidationError(logLevel, isNot: "a log level", known: SettingsKey.logLevels)
    }

    var level: Logger.Level? { logLevel.flatMap(Logger.Level.init(rawValue:)) }

    @discardableResult
    func start(_ logging: Settings.Logging) -> LogThreshold {
        LogLineHandler.install(.init(level: level ?? logging.level, format: logging.format))
    }
}

/// The option `--outcome OUTCOME`, which may be repeated.
struct OutcomeOption: ParsableArguments {
    @Option(
        help: .init("Only this outcome; repeat for several.", valueName: "outcome"),
        completion: .list(Outcome.allCases.map(\.rawValue)))
    var outcome: [String] = []

    func validate() throws {
        for name in outcome where Outcome(rawValue: name) == nil {
            throw ValidationError(name, isNot: "an outcome", known: Outcome.allCases.map(\.rawValue))
        }
    }

    /// The chosen outcomes; empty for all.
    var outcomes: Set<Outcome> { Set(outcome.compactMap(Outcome.init(rawValue:))) }
}

/// A time on the command line: RFC 3339, a date, which begins in UTC, or a duration before now.
enum TimeArgument {
    case at(Instant)
    case ago(Duration)

    init(parsing text: String) throws {
        if let instant = Instant(rfc3339: text) {
            self = .at(instant)
        } else if let midnight = Instant(rfc3339: "\(text)T00:00:00Z") {
            self = .at(midnight)
        } else if text.last == "w", let weeks = Int32(text.dropLast()), weeks >= 0 {
            self = .ago(.seconds(7 * 86_400) * weeks)
        } else if let duration = SettingsValue.duration(text) {
            self = .ago(duration)
        } else {
            throw ValidationError("write a time such as 2026-01-31T06:00:00Z, a date, or a duration such as 2h or 1w")
        }
    }

    func instant(at now: Instant) -> Instant {
        switch self {
        case .at(let instant): instant
        case .ago(let duration): now - duration
        }
    }
}

extension LoadedSettings {
    /// The settings.
    ///
    /// - Throws: the exit with 78 if there is any error.
    var usable: Settings {
        get throws {
            guard let settings else { throw ExitCode.badConfiguration }
            return settings
        }
    }
}

extension Settings {
    func lane(named name: String) throws -> LaneSettings {
        guard let lane = engine.lanes.first(where: { $0.name == name }) else {
            throw ExitCode.wrongUsage(name, isNot: "a lane", known: engine.lanes.map(\.name))
        }
        return lane
    }
}

extension ValidationError {
    init(_ word: String, isNot kind: String, known: [String]) {
        let hint = Spelling.nearest(to: word, among: known).map { " Did you mean \($0)?" } ?? ""
        self.init("'\(word.plain)' is not \(kind).\(hint) Known: \(known.joined(separator: ", ")).")
    }
}

extension ExitCode {
    /// The exit code `EX_CONFIG` of sysexits.h.
    static let badConfiguration = ExitCode(78)

    /// Reports a wrong option after the configuration was read. A `ValidationError` thrown then would print the usage of the
    /// whole program.
    static func wrongUsage(_ problem: ValidationError) -> ExitCode {
        notice("Error: \(problem.message)")
        return .validationFailure
    }

    /// Reports a word that the configuration does not know.
    static func wrongUsage(_ word: String, isNot kind: String, known: [String]) -> ExitCode {
        wrongUsage(ValidationError(word, isNot: "\(kind) of the configuration", known: known))
    }
}

/// Reports records that were left out because they could not be read.
func reportSkipped(_ count: Int, of topic: String, _ what: String) {
    guard count > 0 else { return }
    notice("skipped \(counted(count, "record")) of \(topic) that no \(what) can be read from")
}

/// Warns that an open transaction hides records of a topic.
func reportHidden(_ topic: String) {
    notice("warning: some records are not shown: \(KafkaFailure.heldUp(topic: topic))")
}
