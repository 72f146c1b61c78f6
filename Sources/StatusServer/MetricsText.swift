import NewsModel
import PublisherService

/// Writes the Prometheus text format, version 0.0.4.
///
/// It writes the snapshot that `/api/status` shows too, so that both agree. swift-prometheus has a registry of its own, which the
/// shards would have to update with every event.
///
/// ```swift
/// text.family("newswire_hub_requests_total", .counter, "Requests sent to the hub.", 42)
/// ```
struct MetricsText {
    private(set) var bytes: [UInt8] = []
    private var name = ""

    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    enum Kind: String { case counter, gauge, histogram }

    typealias Label = (name: String, value: String)

    mutating func family(_ name: String, _ kind: Kind, _ help: String, _ samples: (inout MetricsText) -> Void) {
        self.name = name
        append("# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n")
        samples(&self)
    }

    /// Metrics that every Newswire program has.
    mutating func program(startedAt: Instant) {
        family("newswire_build_info", .gauge, "Always 1; the labels say what is running.") {
            $0.sample(1, ("version", ServiceVersion.text))
        }
        family(
            "process_start_time_seconds", .gauge, "When the process started, in seconds since 1970.",
            Double(startedAt.milliseconds) / 1000)
    }

    /// Writes a family of one sample without labels.
    mutating func family(_ name: String, _ kind: Kind, _ help: String, _ value: some MetricValue) {
        family(name, kind, help) { $0.sample(value) }
    }

    /// Writes a family with one sample for each item that has a value.
    /// - Parameter labels: the labels of an item's sample.
    mutating func family<Item>(
        _ name: String, _ kind: Kind, _ help: String, of items: some Sequence<Item>, _ labels: (Item) -> [Label],
        _ value: (Item) -> (some MetricValue)?
    ) {
        family(name, kind, help) { text in
            for item in items {
                if let value = value(item) { text.line("", labels(item), value.metricText) }
            }
        }
    }

    mutating func sample(_ value: some MetricValue, _ labels: Label...) {
        line("", labels, value.metricText)
    }

    /// Writes a histogram. `counts` has one more entry than `bounds` (in seconds), for longer times.
    mutating func histogram(bounds: [Double], counts: [UInt64], sum: Double, _ labels: Label...) {
        var total: UInt64 = 0
        for (bound, count) in zip(bounds + [.infinity], counts) {
            total += count
            line("_bucket", labels + [("le", bound.metricText)], "\(total)")
        }
        line("_sum", labels, sum.metricText)
        line("_count", labels, "\(total)")
    }

    private mutating func line(_ suffix: String, _ labels: [Label], _ value: String) {
        append(name + suffix)
        for (index, label) in labels.enumerated() {
            append((index == 0 ? "{" : ",") + label.name + "=\"" + Self.escaped(label.value) + "\"")
        }
        append((labels.isEmpty ? " " : "} ") + value + "\n")
    }

    private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    private static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == 0x5C || $0 == 0x22 || $0 == 0x0A }) else { return text }
        return text.reduce(into: "") { escaped, character in
            switch character {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n", "\r\n": escaped += "\\n"
            default: escaped.append(character)
            }
        }
    }
}

/// A number that a sample can have.
protocol MetricValue {
    var metricText: String { get }
}

extension MetricValue where Self: BinaryInteger {
    var metricText: String { "\(self)" }
}

extension Int: MetricValue {}
extension Int64: MetricValue {}
extension UInt64: MetricValue {}

extension Double: MetricValue {
    var metricText: String {
        if isNaN { return "NaN" }
        if isInfinite { return self < 0 ? "-Inf" : "+Inf" }
        return description
    }
}
