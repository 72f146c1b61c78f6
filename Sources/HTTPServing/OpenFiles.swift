import Foundation

/// The limit of files and sockets that this process may have open.
package enum OpenFiles {
    /// Raises the limit as far as the system allows without privileges. Every connection uses one file, and the usual
    /// limit of 1,024 is too low for thousands of connections.
    package static func raiseLimit() {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(resource, &limit)
    }

    /// The current limit; `nil` if the system does not report it.
    package static var limit: Int? {
        var limit = rlimit()
        return getrlimit(resource, &limit) == 0 ? Int(clamping: limit.rlim_cur) : nil
    }

    #if canImport(Glibc)
    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    private static let resource = RLIMIT_NOFILE
    #endif
}
