package import ArgumentParser
import Foundation
import HubIO
import KafkaModel
import Synchronization

package struct NewswireCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "newswire",
        abstract: "News from Kafka to phones, through an Azure Notification Hub.",
        discussion: """
            Newswire reads news events from Kafka topics, decides which category tag each belongs to, posts it to a \
            notification hub at a steady rate, and writes the outcome of every delivery to a results topic.

            To see it work, with nothing to install or configure:
              newswire demo

            Then with your own Kafka and hub:
              newswire init               # writes newswire.yaml, with a comment on every part
              newswire check --offline    # finds every mistake in it
              newswire topics --create    # creates the topics
              newswire run                # publishes
              newswire results --follow   # shows outcomes

            When something wrong is going out:
              newswire stop hub --reason "wrong alert"          # sends nothing more
              newswire recall quake-1 --reason "agency kill"    # takes a story back
              newswire control                                  # what is ordered

            Commands read the configuration that --config or $NEWSWIRE_CONFIG names, or else ./newswire.yaml, or else \
            /etc/newswire/newswire.yaml.

            Exit codes: 0 success, 1 failure, 64 wrong usage, 78 wrong configuration.

            To complete commands and options with the tab key, put this into ~/.bashrc:
              source <(newswire --generate-completion-script bash)
            zsh and fish read a file in one of their folders, for example:
              newswire --generate-completion-script zsh > ~/.zfunc/_newswire
              newswire --generate-completion-script fish \\
                > ~/.config/fish/completions/newswire.fish
            """,
        version: ProgramVersion.text,
        subcommands: [
            DemoCommand.self, InitCommand.self, RunCommand.self, CheckCommand.self, TopicsCommand.self,
            PublishCommand.self,
            IngestCommand.self, TelemetryCommand.self,
            RecallCommand.self, StopCommand.self, ResumeCommand.self, ApproveCommand.self, ControlCommand.self,
            AuditCommand.self,
            ResultsCommand.self, RunsCommand.self, HeldCommand.self, ReleaseCommand.self, RedriveCommand.self,
            SendCommand.self,
            HubCommand.self, DeviceCommand.self, ExplainCommand.self,
            SimulateCommand.self,
        ])

    package init() {}

    /// Runs the command of the process's arguments, and ends the process. An error of the command is one line on standard error.
    ///
    /// - Parameter commit: the commit of the build; empty if it is not known.
    package static func main(commit: String) async {
        ProgramVersion.commit.withLock { $0 = commit }
        do {
            try checkName(CommandLine.arguments.dropFirst().first)
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            // Requests for help and wrong usage are errors too, which the library prints.
            guard exitCode(for: error) == .failure, !(error is ExitCode) else { exit(withError: error) }
            notice("error: \((error as? CocoaError)?.localizedDescription ?? "\(error)")")
            exit(withError: isConfiguration(error) ? ExitCode.badConfiguration : .failure)
        }
    }

    /// The library reports a misspelt command as an unexpected argument.
    private static func checkName(_ word: String?) throws {
        let names = configuration.subcommands.map { $0._commandName } + ["help"]
        guard let word, !word.hasPrefix("-"), !names.contains(word) else { return }
        throw ValidationError(word, isNot: "a command", known: names)
    }

    private static func isConfiguration(_ error: any Error) -> Bool {
        switch error {
        case let failure as KafkaFailure: failure.isConfiguration
        case let failure as CommandFailure: failure.isConfiguration
        default: error is TrustRootsProblem
        }
    }
}

struct CommandFailure: Error, CustomStringConvertible {
    let description: String
    /// True if the configuration is wrong.
    var isConfiguration: Bool

    init(_ description: String, isConfiguration: Bool = false) {
        self.description = description
        self.isConfiguration = isConfiguration
    }
}
