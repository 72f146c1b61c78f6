import ArgumentParser
import HTTPServing
import PublisherService

/// The file descriptors that a publisher needs. With too few, SwiftNIO ends the process when it cannot make an event loop, or
/// librdkafka never connects. Neither reports the reason.
package struct DescriptorNeeds: Sendable, Hashable {
    /// The connections to the hub.
    package var connections: Int
    package var lanes: Int
    package var brokers: Int
    /// The publisher's own event loops and SwiftNIO's shared ones.
    package var eventLoops: Int

    package init(connections: Int, lanes: Int, brokers: Int, eventLoops: Int) {
        self.connections = connections
        self.lanes = lanes
        self.brokers = brokers
        self.eventLoops = eventLoops
    }

    /// The lowest limit with which everything works. A Kafka client has a socket to every broker, and two pipe ends beside it. A
    /// lane has two clients. About eight others serve producers, the control and held topics, and questions about topics. An
    /// event loop has three descriptors. The rest is for the status page, files, and some room.
    package var least: Int {
        let clients = 8 + 2 * lanes
        return connections + clients * 3 * (brokers + 1) + eventLoops * 3 + 32
    }

    /// The problem with a limit; `nil` if the limit suffices.
    package func problem(with limit: Int) -> String? {
        guard limit < least else { return nil }
        return
            "this process may open \(limit) files, and these settings need \(least): raise the limit (ulimit -n, LimitNOFILE) or "
            + "lower hub.connections, which is \(connections)"
    }

    /// Raises the limit as far as possible.
    ///
    /// - Throws: the exit with 78 if the raised limit does not suffice.
    func secure() throws(ExitCode) {
        OpenFiles.raiseLimit()
        guard let limit = OpenFiles.limit, let problem = problem(with: limit) else { return }
        Terminal.standardError.line("error: \(problem)")
        throw .badConfiguration
    }
}
