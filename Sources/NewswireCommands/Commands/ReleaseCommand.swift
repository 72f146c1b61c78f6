import ArgumentParser
import EditorialControl
import Foundation
import KafkaIO
import NewsModel
import NewswireSettings
import PublishEngine

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct ReleaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Lets a lane go on that the flood guard has stopped.",
        discussion: """
            The flood guard stops a lane when most of its recent events end as dead letters (floodGuard.share): an \
            upstream change has probably broken them. Look at some first, and mend the producer:
              newswire results --outcome undecodable

            Then release the lane. What waits on it, the records on its topics included, is sent; events that fail end \
            as dead letters one by one, without stopping the lane again. With --dead-letter all that waits ends as \
            dead letters (outcome exhausted, code released), from where newswire redrive can bring it back. Records \
            written later are guarded again.

            The order goes to the status port of a running process (http.listen, with http.token if there is one). \
            Each process guards its own partitions: name the others with --process. A process that ends or revokes \
            partitions before all is done forgets the order; another release continues.

            Examples:
              newswire release --lane live
              newswire release --lane backfill --dead-letter
              newswire release --lane live --reason "the producer is mended"
              newswire release --lane live \\
                --process 10.0.0.7:9464 --process 10.0.0.8:9464

            Who released a lane, and why, stands on the audit topic; a warning says so if it does not take it.

            Exit codes: 0 released where it was stopped, 1 it was stopped nowhere, or a process could not be told.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @Option(help: .init("The lane to release.", valueName: "lane"), completion: ConfiguredNames.lanes) var lane: String
    @Flag(help: "Move what waits to the dead letters instead of sending it.") var deadLetter = false
    @Option(
        help: .init(
            "The status port of a process; repeat for several. By default http.listen.", valueName: "host:port"))
    var process: [String] = []
    @Option(name: .customLong("at"), help: .hidden) var formerProcess: [String] = []
    @OptionGroup var authorOptions: AuthorOptions
    @Flag(help: "Print one JSON object per process, for programs.") var json = false

    func run() async throws {
        let settings = try configurationOption.settings(leavingOut: ["hub", "tracing"])
        let lane = try settings.lane(named: lane).name
        var addresses = process + formerProcess
        if addresses.isEmpty {
            guard let listen = settings.listen else {
                throw ExitCode.wrongUsage(
                    ValidationError("http.listen is off: name the port of a process with --process host:port."))
            }
            addresses = ["\(listen.reachable)"]
        }
        var (released, failed, output) = (0, 0, ActOutput())
        for address in addresses {
            let answer = await release(lane, at: address, token: settings.token?.revealed)
            if json { output.line(line(lane, address, answer)) }
            switch answer {
            case .released:
                released += 1
                let fate = deadLetter ? "goes to the dead letters" : "is sent"
                if !json { output.line("\(address): lane \(lane) released; what waits \(fate)") }
            case .notStopped(let reason): notice("\(address): \(reason)")
            case .failed(let reason):
                failed += 1
                notice("\(address): \(reason)")
            }
        }
        if released > 0 {
            let line = AuditEntry.release(
                lane: lane, at: ServiceClock.wall, by: authorOptions.author, reason: authorOptions.reason)
            AuditWriter(settings).note(line, "this release")
        }
        if failed > 0 || released == 0 { throw ExitCode.failure }
        try output.end()
    }

    private enum Answer {
        case released
        /// The lane is not stopped in that process.
        case notStopped(String)
        case failed(String)
    }

    private func line(_ lane: String, _ process: String, _ answer: Answer) -> String {
        JSONLine.object { json in
            json.field("process", process)
            json.field("lane", lane)
            json.field("waiting", waiting.rawValue)
            switch answer {
            case .released: json.field("released", true)
            case .notStopped(let reason), .failed(let reason):
                json.field("released", false)
                json.field("problem", reason)
            }
        }
    }

    private var waiting: FloodRelease { deadLetter ? .deadLetter : .send }

    private func release(_ lane: String, at address: String, token: String?) async -> Answer {
        var components = URLComponents(string: "http://\(address)")
        components?.path = "/api/lanes/\(lane)/release"
        components?.queryItems = [URLQueryItem(name: "waiting", value: waiting.rawValue)]
        guard let url = components?.url, components?.host?.isEmpty == false else {
            return .failed("is not an address: host:port")
        }
        var request = URLRequest(url: url)
        // On Linux, a timeout that the initializer gets has no effect.
        request.timeoutInterval = 10
        request.httpMethod = "POST"
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        do {
            let (body, response) = try await URLSession.shared.data(for: request)
            guard let status = (response as? HTTPURLResponse)?.statusCode else { return .failed("does not speak HTTP") }
            if status == 200 { return .released }
            let problem = try? JSONDecoder().decode(Problem.self, from: body.prefix(4096))
            let reason = problem?.error.plain ?? "answers with status \(status)"
            return status == 409 ? .notStopped(reason) : .failed(reason)
        } catch {
            return .failed("does not answer: is newswire run there, and is this its http.listen?")
        }
    }

    private struct Problem: Decodable {
        var error: String
    }
}

extension NetworkAddress {
    /// The address at which a process on this machine reaches it. A wildcard covers every address, including loopback.
    fileprivate var reachable: NetworkAddress {
        switch host {
        case "0.0.0.0": NetworkAddress(host: "127.0.0.1", port: port)
        case "::": NetworkAddress(host: "::1", port: port)
        default: self
        }
    }
}
