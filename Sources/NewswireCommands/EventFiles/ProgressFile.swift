package import Backfill
import Foundation
import HTTPServing
import KafkaModel

/// Keeps the progress of a file beside it, in `FILE.newswire-progress`, which is locked until this object is released.
///
/// The file has two places that are written in turn, each with a checksum. Whenever the machine stops, one of them is
/// intact. Both are filled at once, so that later saves need no further room on the disk.
package final class ProgressFile {
    package typealias Failure = EventFile.Failure

    /// The path of the published file.
    let file: String
    /// The progress that an earlier command has left; `nil` if that command wrote nothing to the topic.
    package let earlier: PublishProgress?
    /// The progress that the file has now.
    private(set) var current: PublishProgress?
    /// True if the topic may have events that the progress does not mention.
    var isUncertain = false

    private let descriptor: Int32
    private var sequence: UInt64
    private var path: String { Self.path(for: file) }

    /// The length of a place in bytes. A place is one line of text.
    static let placeLength = 32 << 10
    private static let mark = "newswire-progress-1"
    private static let remedy =
        "nothing was published: see that its folder is writable and has room, or keep no position with --no-resume"

    package static func path(for file: String) -> String { file + ".newswire-progress" }

    /// Opens the progress file, and creates it if it does not exist.
    package init(for file: String) throws(Failure) {
        self.file = file
        let path = Self.path(for: file)
        descriptor = try Self.openLocked(path, file)
        do throws(Failure) {
            let newest = try Self.newest(descriptor, path, file)
            earlier = newest?.progress.continuation
            current = earlier ?? newest?.progress
            sequence = newest?.sequence ?? 0
        } catch {
            Self.unlockAndClose(descriptor)
            throw error
        }
    }

    deinit { Self.unlockAndClose(descriptor) }

    /// Unlocks the file before closing it. Closing does not suffice while a process that another thread is starting still has a
    /// copy of the descriptor, which it keeps until it calls `exec`.
    private static func unlockAndClose(_ descriptor: Int32) {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private static func openLocked(_ path: String, _ file: String) throws(Failure) -> Int32 {
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
            guard descriptor >= 0 else {
                if errno == EMFILE || errno == ENFILE {
                    throw Failure("\(file): too many files at once; publish them in several commands")
                }
                throw Failure("\(path): cannot be written: \(Failure.text(errno)); \(Self.remedy)")
            }
            // Some network file systems have no locks, so nothing detects a second command there.
            if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
                close(descriptor)
                throw Failure("\(file): is being published by another command; wait for its end")
            }
            // Another command may have removed the file between opening and locking.
            var (ours, current) = (stat(), stat())
            if fstat(descriptor, &ours) == 0, stat(path, &current) == 0, ours.st_ino == current.st_ino {
                return descriptor
            }
            unlockAndClose(descriptor)
        }
    }

    private static func newest(
        _ descriptor: Int32, _ path: String, _ file: String
    ) throws(Failure) -> (sequence: UInt64, progress: PublishProgress)? {
        var bytes = [UInt8](repeating: 0, count: 2 * placeLength)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        // An empty file was made by a command that was killed before it wrote anything.
        if count == 0 { return nil }
        let places = bytes.prefix(max(count, 0)).split(separator: UInt8(ascii: "\n")).compactMap(read)
        guard let newest = places.max(by: { $0.sequence < $1.sequence }) else {
            throw Failure(
                "\(path): cannot be read: it was damaged, or not written by this version of newswire. Nothing was published. If no event of \(file) is on the topic yet, remove it"
            )
        }
        return newest
    }

    private static func read(_ line: ArraySlice<UInt8>) -> (sequence: UInt64, progress: PublishProgress)? {
        let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 3)
        guard parts.count == 4, Array(parts[0]) == Array(mark.utf8) else { return nil }
        let json = Array(parts[3].reversed().drop { $0 == UInt8(ascii: " ") }.reversed())
        guard let sequence = UInt64(String(decoding: parts[1], as: UTF8.self)),
            String(decoding: parts[2], as: UTF8.self) == checksum(json, sequence),
            let progress = try? JSONDecoder().decode(PublishProgress.self, from: Data(json)), progress.isSound
        else { return nil }
        return (sequence, progress)
    }

    private static func checksum(_ json: [UInt8], _ sequence: UInt64) -> String {
        var fingerprint = Fingerprint()
        fingerprint.mix(sequence)
        fingerprint.mix(json)
        return String(fingerprint.value, radix: 16)
    }

    /// Saves the progress. The first save fills both places, which takes room on the disk.
    package func save(_ progress: PublishProgress) throws(Failure) {
        if sequence == 0 {
            do throws(Failure) {
                try write(progress)
            } catch {
                throw Failure("\(error); \(Self.remedy)")
            }
        }
        try write(progress)
        current = progress
    }

    private func write(_ progress: PublishProgress) throws(Failure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let json = try? Array(encoder.encode(progress)) else { throw failure("it has no JSON form") }
        let next = sequence + 1
        var line = Array("\(Self.mark) \(next) \(Self.checksum(json, next)) ".utf8) + json
        guard line.count < Self.placeLength else { throw failure("it is too long") }
        line += [UInt8](repeating: UInt8(ascii: " "), count: Self.placeLength - 1 - line.count)
        line.append(UInt8(ascii: "\n"))
        let place = off_t(next % 2) * off_t(Self.placeLength)
        let count = line.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, place) }
        guard count == line.count else { throw failure(count < 0 ? Failure.text(errno) : "no room on the disk") }
        // The disk must not lag behind the topic, on which there is nothing during the first two writes.
        guard sequence < 2 || fdatasync(descriptor) == 0 else { throw failure(Failure.text(errno)) }
        sequence = next
    }

    private func failure(_ reason: String) -> Failure {
        Failure("\(path): the position cannot be saved: \(reason)")
    }

    /// Removes the progress, so that the next command starts again from the beginning.
    package func remove() { unlink(path) }
}

/// The progress of all files of one command. It exists from before the first record until the last file is published, and is
/// removed only then.
final class PublishProgresses {
    private var files: [String: ProgressFile] = [:]

    /// Opens and writes all progress files, so that every obstacle is found before anything is published.
    ///
    /// - Parameters:
    ///   - paths: the files to publish, without standard input.
    ///   - fresh: the progress of a file at its beginning.
    ///   - isRunNamed: true if only the run of `fresh` may be continued.
    init(_ paths: [String], fresh: PublishProgress, isRunNamed: Bool = false) throws(EventFile.Failure) {
        // An archive may have thousands of files, each locked.
        OpenFiles.raiseLimit()
        do throws(EventFile.Failure) {
            for path in paths {
                let file = try ProgressFile(for: path)
                files[path] = file
                if let earlier = file.earlier {
                    let run = isRunNamed ? fresh.run : self.earlier?.run
                    if let obstacle = earlier.obstacle(to: fresh, run: run) {
                        throw EventFile.Failure(
                            "\(path): \(obstacle), or remove \(ProgressFile.path(for: path)) to forget how far it got")
                    }
                } else {
                    try file.save(fresh)
                }
            }
            try adopt(fresh)
        } catch {
            removeUnused()
            throw error
        }
    }

    /// Assigns files that were not begun to the run of those that were.
    private func adopt(_ fresh: PublishProgress) throws(EventFile.Failure) {
        guard let earlier, earlier.run != fresh.run else { return }
        for file in files.values where file.earlier == nil {
            guard var current = file.current else { continue }
            (current.run, current.begunAt) = (earlier.run, earlier.begunAt)
            try file.save(current)
        }
    }

    var isEmpty: Bool { files.isEmpty }

    /// The files that earlier commands have begun, by their paths.
    var begun: [(path: String, progress: PublishProgress)] {
        files.sorted { $0.key < $1.key }.compactMap { path, file in file.earlier.map { (path, $0) } }
    }

    subscript(path: String) -> ProgressFile? { files[path] }

    func removeAll() {
        for file in files.values { file.remove() }
        files = [:]
    }

    /// The progress of the run that an earlier command has begun; `nil` without one, or if that command knew no runs.
    var earlier: PublishProgress? {
        files.values.compactMap(\.earlier).filter { $0.run != nil }.min { $0.begunAt ?? 0 < $1.begunAt ?? 0 }
    }

    /// Makes later commands refuse to continue the files of which something was published, because that is gone.
    func markGone() {
        for file in files.values {
            guard var current = file.current, current.published > 0 else { continue }
            current.stored = .gone
            do {
                try file.save(current)
            } catch {
                notice("\(error)")
            }
        }
    }

    /// Removes the progress files that the next command does not need.
    func removeUnused() {
        for file in files.values
        where file.earlier == nil && !file.isUncertain && file.current?.published ?? 0 == 0 { file.remove() }
        files = [:]
    }
}

extension FileStamp {
    private static let endLength = 64 << 10

    /// - Parameter size: the number of bytes that count, from the first on; `nil` for all.
    /// - Returns: `nil` if the file is not a plain file, is shorter than `size`, or cannot be read.
    package init?(of path: String, size: Int? = nil) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let whole = Int(status.st_size)
        let size = size ?? whole
        let length = min(size, Self.endLength)
        guard size >= 0, size <= whole, let head = Self.hash(descriptor, at: 0, length),
            let tail = Self.hash(descriptor, at: size - length, length)
        else { return nil }
        let changedAt =
            Int64(status.st_mtim.tv_sec).multipliedReportingOverflow(by: 1_000_000_000).partialValue
            &+ Int64(status.st_mtim.tv_nsec)
        self.init(size: size, changedAt: changedAt, head: head, tail: tail)
    }

    private static func hash(_ descriptor: Int32, at offset: Int, _ length: Int) -> UInt64? {
        var bytes = [UInt8](repeating: 0, count: length)
        var done = 0
        while done < length {
            let count = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress.map { $0 + done }, length - done, off_t(offset + done))
            }
            guard count > 0 else { return nil }
            done += count
        }
        var fingerprint = Fingerprint()
        fingerprint.mix(bytes)
        return fingerprint.value
    }

    /// The reason why the file at the path cannot be this one with something appended; `nil` if it can.
    func difference(_ path: String) -> String? {
        difference(from: FileStamp(of: path)) { FileStamp(of: path, size: size) }
    }
}
