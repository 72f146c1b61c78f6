import Foundation
import GRDB
import HubEmulator
import NotificationHub
import Synchronization

/// The hub's registrations, installations and recent sends in one SQLite file, safe against a killed process.
final class HubStore: Sendable {
    private let database: DatabaseQueue
    /// Held while changes are taken from the hub and written, so that they are written in order. Callers that waited
    /// for the lock find nothing left to write: one transaction serves them all.
    private let writing = Mutex<Int>(0)
    private let messagesKept: Int
    private let path: String

    /// Opens the file for this process alone, until the process ends: two hubs would overwrite what the other one holds.
    init(path: String, messagesKept: Int) throws(HubServerProblem) {
        self.messagesKept = messagesKept
        self.path = path
        do {
            var configuration = Configuration()
            configuration.prepareDatabase { database in
                try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
                // Killing the process loses nothing; only a power failure could undo the last transactions.
                try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
            }
            database = try DatabaseQueue(path: path, configuration: configuration)
            var migrator = DatabaseMigrator()
            migrator.registerMigration("1") { database in
                try database.execute(
                    sql: """
                        CREATE TABLE registrations (
                            id TEXT PRIMARY KEY, etag INTEGER NOT NULL, entry BLOB NOT NULL) WITHOUT ROWID;
                        CREATE TABLE installations (id TEXT PRIMARY KEY, json BLOB NOT NULL) WITHOUT ROWID;
                        CREATE TABLE messages (number INTEGER PRIMARY KEY, json BLOB NOT NULL);
                        CREATE TABLE rules (position INTEGER PRIMARY KEY, name TEXT NOT NULL, rights INTEGER NOT NULL,
                            primaryKey TEXT NOT NULL, secondaryKey TEXT);
                        """)
            }
            try migrator.migrate(database)
        } catch {
            throw Self.problem(error, path)
        }
    }

    /// The rules with their keys, so that connection strings stay valid across a restart.
    func rules() throws(HubServerProblem) -> [AccessRule] {
        do {
            return try database.read { database in
                try Row.fetchAll(database, sql: "SELECT * FROM rules ORDER BY position").map { row in
                    AccessRule(
                        name: row["name"], primaryKey: AccessKey(row["primaryKey"]),
                        secondaryKey: (row["secondaryKey"] as String?).map { AccessKey($0) },
                        rights: AccessRule.Rights(rawValue: row["rights"]))
                }
            }
        } catch {
            throw Self.problem(error, path)
        }
    }

    func save(_ rules: [AccessRule]) throws(HubServerProblem) {
        do {
            try database.write { database in
                try database.execute(sql: "DELETE FROM rules")
                for (position, rule) in rules.enumerated() {
                    try database.execute(
                        sql: "INSERT INTO rules VALUES (?, ?, ?, ?, ?)",
                        arguments: [
                            position, rule.name, rule.rights.rawValue, rule.primaryKey.revealed,
                            rule.secondaryKey?.revealed,
                        ])
                }
            }
        } catch {
            throw Self.problem(error, path)
        }
    }

    /// Restores everything stored into the hub.
    func restore(into hub: inout EmulatedHub) throws(HubServerProblem) {
        do {
            var restored = hub
            try database.read { database in
                let registrations = try Row.fetchCursor(database, sql: "SELECT * FROM registrations")
                while let row = try registrations.next() {
                    _ = restored.restoreRegistration(
                        id: row["id"], etag: row["etag"], entry: Array(row["entry"] as Data))
                }
                let installations = try Row.fetchCursor(database, sql: "SELECT * FROM installations ORDER BY id")
                while let row = try installations.next() {
                    _ = restored.restoreInstallation(id: row["id"], json: Array(row["json"] as Data))
                }
                let messages = try Row.fetchCursor(database, sql: "SELECT * FROM messages ORDER BY number")
                while let row = try messages.next() {
                    let json = JSONTree(parsing: Array(row["json"] as Data))
                    if let message = json.flatMap(ReceivedMessage.init(json:)) { restored.restore(message) }
                }
            }
            hub = restored
        } catch {
            throw Self.problem(error, path)
        }
    }

    /// Changes after this are not stored.
    func close() {
        writing.withLock { _ in try? database.close() }
    }

    private static func problem(_ error: any Error, _ path: String) -> HubServerProblem {
        let another = "choose another file with --store"
        guard let error = error as? DatabaseError else { return .store(path, "\(error)", remedy: another) }
        return switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            .store(path, "it is in use by another hub or program", remedy: "stop that, or \(another)")
        case .SQLITE_CANTOPEN:
            .store(path, "it cannot be opened", remedy: "create its folder, and let this user write there")
        case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH:
            .store(path, "it cannot be written", remedy: "let this user write to it and to its folder")
        case .SQLITE_NOTADB, .SQLITE_CORRUPT:
            .store(path, "it is damaged, or not the store of a hub", remedy: "restore it, or \(another)")
        case .SQLITE_FULL, .SQLITE_IOERR:
            .store(path, "the disk is full or fails", remedy: "make room, or \(another)")
        default:
            .store(path, error.message ?? "SQLite error \(error.extendedResultCode.rawValue)", remedy: another)
        }
    }

    /// Stores the changes from `takeChanges`.
    func write(_ takeChanges: () -> [HubChange]) {
        writing.withLock { failures in
            let changes = takeChanges()
            guard !changes.isEmpty else { return }
            do {
                try database.write { database in
                    for change in changes { try Self.write(change, database, messagesKept: messagesKept) }
                }
            } catch {
                // A full disk must not stop the hub; its state in memory stays valid.
                failures += 1
            }
        }
    }

    private static func write(_ change: HubChange, _ database: Database, messagesKept: Int) throws {
        switch change {
        case .registration(let id, let etag, let entry?):
            try database.cachedStatement(sql: "INSERT OR REPLACE INTO registrations VALUES (?, ?, ?)")
                .execute(arguments: [id, etag, Data(entry)])
        case .registration(let id, _, nil):
            try database.cachedStatement(sql: "DELETE FROM registrations WHERE id = ?").execute(arguments: [id])
        case .installation(let id, let json?):
            try database.cachedStatement(sql: "INSERT OR REPLACE INTO installations VALUES (?, ?)")
                .execute(arguments: [id, Data(json)])
        case .installation(let id, nil):
            try database.cachedStatement(sql: "DELETE FROM installations WHERE id = ?").execute(arguments: [id])
        case .message(let message):
            try database.cachedStatement(sql: "INSERT OR REPLACE INTO messages VALUES (?, ?)")
                .execute(arguments: [message.number, Data(message.json.bytes)])
            try database.cachedStatement(sql: "DELETE FROM messages WHERE number <= ?")
                .execute(arguments: [message.number - messagesKept])
        }
    }
}
