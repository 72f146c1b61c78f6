import Foundation
package import Synchronization

/// Log lines of this process that were lost, because they were not read in time or could not be written.
package enum LogLoss {
    package static let lines = Atomic<UInt64>(0)
}

/// The operating system's figures for this process; `nil` for those it does not report.
struct ProcessFigures {
    /// User and system time, in seconds.
    var cpuSeconds: Double
    var residentBytes: Int?
    var openFiles: Int?
    var maxFiles: Int?
    var logLinesDropped: UInt64 = 0

    static var now: ProcessFigures {
        var usage = rusage()
        #if canImport(Glibc)
        _ = getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #else
        _ = getrusage(RUSAGE_SELF, &usage)
        #endif
        let cpu = [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
        let memory = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        let pages = memory?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        // Listing the folder opens one file, which is subtracted.
        let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count - 1
        var limit = rlimit()
        #if canImport(Glibc)
        let hasLimit = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        #else
        let hasLimit = getrlimit(RLIMIT_NOFILE, &limit) == 0
        #endif
        return ProcessFigures(
            cpuSeconds: cpu, residentBytes: pages.map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) }, openFiles: files,
            maxFiles: hasLimit ? Int(clamping: limit.rlim_cur) : nil,
            logLinesDropped: LogLoss.lines.load(ordering: .relaxed))
    }

    func write(into text: inout MetricsText) {
        text.family("process_cpu_seconds_total", .counter, "User and system time.", cpuSeconds)
        text.family(
            "newswire_log_lines_dropped_total", .counter, "Lines of the log that nobody read in time, or that failed.",
            logLinesDropped)
        let gauges = [
            ("process_resident_memory_bytes", "Memory in RAM.", residentBytes),
            ("process_open_fds", "Open file descriptors.", openFiles),
            ("process_max_fds", "File descriptors allowed.", maxFiles),
        ]
        for (name, help, value) in gauges {
            if let value { text.family(name, .gauge, help, value) }
        }
    }
}
