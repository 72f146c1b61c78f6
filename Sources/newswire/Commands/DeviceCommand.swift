import ArgumentParser
import BreakingNews
import Foundation
import HubIO
import NotificationHub

struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "A subscriber on the command line.",
        discussion: """
            It registers with the hub as an app on a phone does, prints each notification as it arrives, and \
            unregisters when it is told to end. A Listen-only key is enough.

            Examples:
              newswire hub --name breaking-news
              newswire device --connection-string 'Endpoint=…' --hub breaking-news \\
                --categories World,Sports

            With --state it remembers who it is: started again, it prints what came meanwhile, provided it \
            ended with --keep. Only the emulator shows what it delivers; at the real service the device can \
            register, but its notifications go to the platform and not here.
            """)

    @Option(help: ArgumentHelp("How to reach the hub, with a key that may listen.", valueName: "s"))
    var connectionString: String
    @Option(help: ArgumentHelp("The hub's name.", valueName: "n"))
    var hub: String?
    @Option(help: ArgumentHelp("What to subscribe to, with commas between.", valueName: "list"))
    var categories: String
    @Option(help: "What the device is: apple, fcmv1, windows or browser.")
    var platform = DevicePlatform.apple
    @Option(help: ArgumentHelp("The device's address at its platform; made up when left out.", valueName: "h"))
    var handle: String?
    @Option(
        help: ArgumentHelp("Believe the authorities in this PEM file, in place of the system's.", valueName: "file"))
    var trustRoots: String?
    @Option(help: ArgumentHelp("Remember who the device is.", valueName: "file"))
    var state: String?
    @Flag(help: "Register the way of the first apps, not as an installation.")
    var registrations = false
    @Flag(help: "Stay registered at the end.")
    var keep = false
    @Flag(help: "Print each notification as one line of JSON.")
    var json = false

    func validate() throws {
        _ = try settings()
        guard try !chosen().isEmpty else { throw ValidationError("--categories must name at least one category.") }
        if let handle { try check(handle) }
    }

    private func settings() throws -> RegistrationSettings {
        do {
            let connection = try ConnectionString(parsing: connectionString)
            guard let name = try hub.map({ try HubName($0) }) ?? connection.entityPath else {
                throw ValidationError("--hub is missing; write the hub's name.")
            }
            return RegistrationSettings(
                connection: connection, hub: name, form: registrations ? .registrations(native: false) : .installation)
        } catch let problem as ValidationError {
            throw problem
        } catch {
            throw ValidationError("\(error)")
        }
    }

    private func chosen() throws -> [NewsCategory] {
        try categories.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }.map
        {
            name in
            // In the spelling of the offer where it is one of those.
            if let known = NewsCategory.standard.first(where: { $0.name.lowercased() == name.lowercased() }) {
                return known
            }
            do { return try NewsCategory(name) } catch { throw ValidationError("'\(name)': \(error)") }
        }
    }

    private func check(_ handle: String) throws {
        guard !handle.isEmpty, handle.utf8.count <= PushChannel.handleLengthMax else {
            throw ValidationError("--handle must have 1 to \(PushChannel.handleLengthMax) bytes.")
        }
        if platform == .apple, !handle.allSatisfy({ $0.isASCII && $0.isHexDigit }) || !handle.count.isMultiple(of: 2) {
            throw ValidationError("--handle of an apple device must be an even number of hexadecimal digits.")
        }
    }

    func run() async throws {
        let settings = try settings()
        let link: DeviceLink
        do {
            link = try DeviceLink(settings.connection.endpoint, roots: trustRoots.map { .file($0) } ?? .system)
        } catch {
            Terminal.standardError.line("error: \(error)")
            throw ExitCode.failure
        }
        let store: any LocalStore = state.map { FileStore(URL(fileURLWithPath: $0)) } ?? MemoryStore()
        var memory = DeviceMemory(store)
        let handle = handle ?? memory.handle(on: platform) ?? platform.newHandle()
        memory.become(handle, on: platform)
        do { try memory.save() } catch {
            Terminal.standardError.line("error: the state cannot be kept: \(error.localizedDescription)")
            throw ExitCode.failure
        }
        let choices = CategoryStore(store, offer: try chosen())
        try choices.choose(try chosen())
        let names = choices.chosen.map(\.name).joined(separator: ", ")
        let registrar = HubRegistrar(settings, store: store, transport: link) { state in
            Self.report(state, "\(names) as \(platform.rawValue) \(handle)")
        }
        await registrar.want(Subscription(channel: platform.channel(handle), categories: choices.chosen))
        // The hub may have been started anew since the last time.
        await registrar.refresh()
        let inbox = DeviceInbox(
            settings.connection.endpoint, link, memory: memory, onReturn: { await registrar.refresh() }
        ) { notification in
            Terminal.standardOutput.line(json ? notification.json : notification.line)
        }
        let work = Task {
            await withTaskGroup { group in
                group.addTask { await registrar.run() }
                group.addTask { await inbox.run() }
            }
        }
        let watch = SignalWatch { work.cancel() }
        await work.value
        if !keep { await registrar.want(nil) }
        let end = keep ? RegistrationState.unregistered : await registrar.settle()
        guard end == .unregistered else {
            Terminal.standardError.line("error: the device may still be registered")
            throw ExitCode.failure
        }
        // What was delivered until now has arrived, too.
        await inbox.catchUp()
        withExtendedLifetime(watch) {}
    }

    private static func report(_ state: RegistrationState, _ whom: String) {
        switch state {
        case .registering: break
        case .registered: Terminal.standardError.line("registered for \(whom)")
        case .unregistered: Terminal.standardError.line("not registered any more")
        case .waiting(let failure):
            let seconds = max(1, failure.retryAt - Int64(Date().timeIntervalSince1970))
            Terminal.standardError.line("not registered: \(failure); next attempt in \(seconds) s")
        }
    }
}
