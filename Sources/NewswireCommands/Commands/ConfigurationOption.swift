import ArgumentParser
import Foundation

/// `--config FILE`, and what every command does with it.
struct ConfigurationOption: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config: String

    /// - Throws: an exit with 78 after every problem was written to standard error.
    func settings() throws -> Settings {
        let reading = try reading()
        guard let settings = reading.settings else { throw ExitCode.badConfiguration }
        return settings
    }

    /// Reads the file and writes its problems, warnings included, to standard error.
    func reading() throws -> SettingsReading {
        let reading: SettingsReading
        do {
            reading = try SettingsFile(path: config).read()
        } catch {
            Terminal.standardError.line("\(config): error: the file \(error); name another with --config")
            throw ExitCode.badConfiguration
        }
        for problem in reading.problems { Terminal.standardError.line(problem.line(file: config)) }
        let count = reading.problems.count { $0.severity == .error }
        if count > 0 { Terminal.standardError.line("\(count) problem\(count == 1 ? "" : "s") in \(config)") }
        return reading
    }
}

/// `--log-level`, which goes before the configuration's.
struct LogOption: ParsableArguments {
    @Option(
        name: .long, help: ArgumentHelp("trace, debug, info, notice, warning, error or critical.", valueName: "level"))
    var logLevel: String?

    func validate() throws {
        if let logLevel, !SettingsKey.logLevels.contains(logLevel) {
            throw ValidationError(
                "'\(logLevel)' is no log level; write one of \(SettingsKey.logLevels.joined(separator: ", ")).")
        }
    }

    @discardableResult
    func start(_ logging: Settings.Logging) -> LogThreshold {
        LogLineHandler.install(level: logLevel ?? logging.level, format: logging.format)
    }
}

extension ExitCode {
    /// `EX_CONFIG` of sysexits.h.
    static let badConfiguration = ExitCode(78)
}
