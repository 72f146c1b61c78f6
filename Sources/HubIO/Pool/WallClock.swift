#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Unix seconds. Read only for a `Retry-After` that names a date.
func wallClockSeconds() -> Int64 {
    Int64(time(nil))
}
