/// The real program's instructions per event.
struct PathInstructions: Codable {
    var scenario: String
    var eventLoop: Int
    /// Instructions of librdkafka's threads and those that wait for them. The number of empty polls depends on timing.
    var otherThreads: Int

    /// Runs the program with a fifth of the events, then with all. The difference excludes start-up.
    init(of scenario: Scenario, program: String) throws {
        let few = scenario.events / 5
        let (less, more) = try withTemporaryFolder { folder in
            let callgrind = try Callgrind(program: program, folder: folder)
            return try (
                Self.run(callgrind, scenario, events: few), Self.run(callgrind, scenario, events: scenario.events)
            )
        }
        self.scenario = scenario.name
        eventLoop = (more.eventLoop - less.eventLoop) / (scenario.events - few)
        otherThreads = (more.others - less.others) / (scenario.events - few)
    }

    private static func run(
        _ callgrind: Callgrind, _ scenario: Scenario, events: Int
    ) throws -> (eventLoop: Int, others: Int) {
        var scenario = scenario
        scenario.events = events
        let threads = try callgrind.threads { _ = try PathRun(command: $0, scenario: scenario).figures() }
        var (eventLoop, others) = (0, 0)
        for thread in threads {
            if thread.profile.contains("$s8NIOPosix19SelectableEventLoopC3run") {
                eventLoop += thread.instructions
            } else {
                others += thread.instructions
            }
        }
        return (eventLoop, others)
    }
}
