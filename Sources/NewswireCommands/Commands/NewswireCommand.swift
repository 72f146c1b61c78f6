package import ArgumentParser
import PublisherService

package struct NewswireCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "newswire",
        abstract: "News from Kafka to phones, through an Azure Notification Hub.",
        discussion: """
            Newswire reads news events from Kafka topics, decides which category tag each belongs to, posts \
            it to a notification hub at a steady rate, and writes the outcome of every delivery to a results topic.

            To see it work, with nothing to install or configure:
              newswire demo

            Then with your own Kafka and hub:
              newswire check --config newswire.yaml --offline     finds every mistake
              newswire topics --config newswire.yaml --create     creates the topics
              newswire run --config newswire.yaml                 publishes
              newswire results --config newswire.yaml --follow    shows outcomes

            When something wrong is going out:
              newswire stop --config newswire.yaml hub --reason "wrong alert"          sends nothing more
              newswire recall --config newswire.yaml quake-1 --reason "agency kill"    takes a story back
              newswire control --config newswire.yaml --list                           what is ordered

            Exit codes: 0 success, 1 failure, 64 wrong usage, 78 wrong configuration.

            To complete commands and options with the tab key, put this into ~/.bashrc:
              source <(newswire --generate-completion-script bash)
            zsh and fish read a file in one of their folders, for example:
              newswire --generate-completion-script zsh > ~/.zfunc/_newswire
              newswire --generate-completion-script fish \\
                > ~/.config/fish/completions/newswire.fish
            """,
        version: "newswire \(ServiceVersion.text)",
        subcommands: [
            DemoCommand.self, RunCommand.self, CheckCommand.self, TopicsCommand.self, PublishCommand.self,
            IngestCommand.self, TelemetryCommand.self,
            RecallCommand.self, StopCommand.self, ResumeCommand.self, ControlCommand.self, AuditCommand.self,
            ResultsCommand.self, RunsCommand.self, HeldCommand.self, ReleaseCommand.self, RedriveCommand.self,
            SendCommand.self,
            HubCommand.self, DeviceCommand.self, ExplainCommand.self,
            SimulateCommand.self,
        ])

    package init() {}
}
