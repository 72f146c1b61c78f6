import ArgumentParser

@main
struct Newswire: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "newswire",
        abstract: "News from Kafka to phones, through an Azure Notification Hub.",
        discussion: """
            Newswire reads news events from Kafka topics, decides which category tag each belongs to, posts \
            it to a notification hub at a steady rate, and writes what became of every one to a results \
            topic.

            See it work, with nothing installed and nothing configured:
              newswire demo

            Then with your own Kafka and hub:
              newswire check --config newswire.yaml     every mistake at once, by line
              newswire topics --config newswire.yaml --create
              newswire run --config newswire.yaml
              newswire results --config newswire.yaml --follow

            Exit codes: 0 done, 1 failed, 64 wrong usage, 78 wrong configuration.
            """,
        subcommands: [
            DemoCommand.self, RunCommand.self, CheckCommand.self, TopicsCommand.self, PublishCommand.self,
            ResultsCommand.self, RedriveCommand.self, SendCommand.self, HubCommand.self, DeviceCommand.self,
            SimulateCommand.self,
        ])
}
