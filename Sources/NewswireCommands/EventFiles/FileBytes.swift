import Foundation

/// The bytes of a file or of standard input, piece by piece, after decompression of gzip and zstd.
final class FileBytes {
    typealias Failure = EventFile.Failure

    /// The file's size and time of change when it was opened, which reveal later changes.
    private struct Version: Equatable {
        var size: Int
        var seconds: Int
        var nanoseconds: Int

        init(_ status: stat) {
            size = Int(status.st_size)
            seconds = status.st_mtim.tv_sec
            nanoseconds = status.st_mtim.tv_nsec
        }
    }

    /// The name for messages.
    let name: String
    /// The stored size in bytes; `nil` for standard input and other streams.
    var size: Int? { version?.size }
    /// The number of stored bytes that were read.
    private(set) var bytesRead = 0
    /// The compression; `nil` for plain files and while it is not known.
    private(set) var compression: Compression?

    private let descriptor: Int32
    private let version: Version?
    private var input: [UInt8] = []
    /// The number of bytes of `input` that were used.
    private var used = 0
    private var isAtEnd = false
    private var isRecognised = false
    private var decompressor: (any Decompressor)?
    /// True if the decompressor filled the last piece, so that it may have more output.
    private var mayHoldMore = false

    static let pieceLength = 64 * 1024
    /// Maximum wait for a stream without data, in milliseconds.
    private static let waitMax: Int32 = 100

    /// - Parameter path: `-` for standard input.
    init(path: String) throws(Failure) {
        name = path == "-" ? "standard input" : path
        // Without O_NONBLOCK, opening a named pipe would block here, where no stop flag is checked.
        descriptor = path == "-" ? 0 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Failure(path, errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Failure(name, errno) }
        version = status.st_mode & S_IFMT == S_IFREG ? Version(status) : nil
        if status.st_mode & S_IFMT == S_IFDIR { throw Failure(name, EISDIR) }
    }

    deinit { if descriptor > 0 { close(descriptor) } }

    /// True if the file has the size and the time of change that it had when it was opened. True for streams.
    var isUnchanged: Bool {
        var status = stat()
        guard let version, fstat(descriptor, &status) == 0 else { return version == nil }
        return version == Version(status)
    }

    /// The next bytes; empty at the end, and `nil` if a stream has no data now.
    func next() throws(Failure) -> [UInt8]? {
        if !isRecognised {
            while input.count < Compression.beginningLength, !isAtEnd {
                if try !read() { return nil }
            }
            isRecognised = true
            compression = Compression(beginning: input)
            if let compression {
                decompressor = compression.makeDecompressor()
                if decompressor == nil { throw Failure("\(name): there is no memory to decompress it") }
            }
        }
        guard let decompressor else { return try plain() }
        return try decompressed(decompressor)
    }

    private func plain() throws(Failure) -> [UInt8]? {
        if input.isEmpty, !isAtEnd, try !read() { return nil }
        defer { input = [] }
        return input
    }

    private func decompressed(_ decompressor: any Decompressor) throws(Failure) -> [UInt8]? {
        while true {
            if used == input.count, !mayHoldMore {
                input = []
                used = 0
                if isAtEnd {
                    guard decompressor.isAtEnd else {
                        throw Failure("\(name): ends in the middle of its compressed data: it is incomplete")
                    }
                    return []
                }
                if try !read() { return nil }
            }
            let piece = try piece(decompressor)
            if !piece.isEmpty { return piece }
        }
    }

    private func piece(_ decompressor: any Decompressor) throws(Failure) -> [UInt8] {
        var damage: Damage?
        let piece = [UInt8](unsafeUninitializedCapacity: Self.pieceLength) { output, count in
            let room = UnsafeMutableRawBufferPointer(output)
            input.withUnsafeBytes { input in
                do throws(Damage) {
                    let rest = UnsafeRawBufferPointer(rebasing: input[used...])
                    let done = try decompressor.decompress(rest, into: room)
                    used += done.read
                    count = done.written
                } catch {
                    damage = error
                }
            }
        }
        if let damage {
            throw Failure("\(name): is damaged: its compressed data cannot be read (\(damage.reason))")
        }
        mayHoldMore = piece.count == Self.pieceLength
        return piece
    }

    /// Reads more bytes into `input`.
    ///
    /// - Returns: `false` if a stream has no data now.
    private func read() throws(Failure) -> Bool {
        while true {
            if version == nil {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                if poll(&waiting, 1, Self.waitMax) == 0 { return false }
            }
            var count = 0
            var error: Int32 = 0
            let piece = [UInt8](unsafeUninitializedCapacity: Self.pieceLength) { buffer, initialized in
                count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
                error = errno
                initialized = max(count, 0)
            }
            if count < 0 {
                if error == EINTR { continue }
                if error == EAGAIN { return false }
                throw Failure("\(name): reading failed before the end: \(Failure.text(error))")
            }
            isAtEnd = count == 0
            bytesRead += count
            input = input.isEmpty ? piece : input + piece
            return true
        }
    }
}

extension EventFile.Failure {
    /// Describes a file that cannot be read, from the system's error number.
    init(_ path: String, _ error: Int32) {
        let reason =
            switch error {
            case ENOENT: "there is no such file"
            case EISDIR: "is a folder; name the files in it"
            default: "cannot be read: \(Self.text(error))"
            }
        self.init("\(path): \(reason)")
    }

    /// The system's description of an error number.
    static func text(_ error: Int32) -> String { String(cString: strerror(error)) }
}
