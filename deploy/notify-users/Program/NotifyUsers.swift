import Foundation
import Hummingbird
import NotificationHub
import NotifyUsers

/// Serves the back end on 127.0.0.1. Use a TLS proxy: passwords and handles must not cross the network in the clear.
@main
struct NotifyUsersProgram {
    static func main() async throws {
        let environment = ProcessInfo.processInfo.environment
        guard let text = environment["NOTIFY_USERS_HUB"], let name = environment["NOTIFY_USERS_HUB_NAME"] else {
            FileHandle.standardError.write(
                Data("set NOTIFY_USERS_HUB (a connection string with all rights) and NOTIFY_USERS_HUB_NAME\n".utf8))
            exit(64)
        }
        do {
            let backEnd = BackEnd(
                try ConnectionString(parsing: text), hub: try HubName(name),
                secret: environment["NOTIFY_USERS_SECRET"].map { AccessKey($0) })
            let port = environment["NOTIFY_USERS_PORT"].flatMap { Int($0) } ?? 8070
            let application = Application(
                router: backEnd.router, configuration: .init(address: .hostname("127.0.0.1", port: port)))
            try await application.runService()
        } catch {
            FileHandle.standardError.write(Data("error: \(error)\n".utf8))
            exit(1)
        }
    }
}
