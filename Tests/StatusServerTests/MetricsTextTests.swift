import Foundation
import HTTPServing
import TestSupport
import Testing

@testable import StatusServer

/// A Python with the package, if one is installed.
private let python = Python(with: "prometheus_client")

struct MetricsTextTests {
    @Test
    func `the text has the form that the format requires`() {
        var text = MetricsText()
        text.family("a_total", .counter, "How many.") { text in
            text.sample(1, ("x", "a\"b\\c\nd"), ("y", ""))
            text.sample(UInt64.max)
        }
        text.family("b_seconds", .histogram, "How long.") {
            $0.histogram(bounds: [0.5, 1], counts: [1, 0, 2], sum: 7.25, ("x", "y"))
        }
        text.family("c", .gauge, "How much.") { text in
            text.sample(Double.infinity)
            text.sample(-Double.infinity)
            text.sample(Double.nan)
        }
        #expect(
            String(decoding: text.bytes, as: UTF8.self) == #"""
                # HELP a_total How many.
                # TYPE a_total counter
                a_total{x="a\"b\\c\nd",y=""} 1
                a_total 18446744073709551615
                # HELP b_seconds How long.
                # TYPE b_seconds histogram
                b_seconds_bucket{x="y",le="0.5"} 1
                b_seconds_bucket{x="y",le="1.0"} 1
                b_seconds_bucket{x="y",le="+Inf"} 3
                b_seconds_sum{x="y"} 7.25
                b_seconds_count{x="y"} 3
                # HELP c How much.
                # TYPE c gauge
                c +Inf
                c -Inf
                c NaN

                """#)
    }

    @Test(
        .enabled(if: python != nil, "needs Python's prometheus_client (in NEWSWIRE_TEST_PYTHON or python3)"),
        .timeLimit(.minutes(15)))
    func `an independent parser reads the whole page and finds the same values`() async throws {
        let room = try await StatusRoom()
        try room.newsroom.topics.publish([
            #"{"id":"a","headline":"A ferry","category":"World"}"#, "{",
            #"{"id":"c","headline":"x","category":"Nowhere"}"#,
        ])
        _ = try await room.status { $0.settled == 3 && $0.lanes.first?.lag == 0 }
        let page = try await room.get("/metrics")
        #expect(page.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        let program = """
            import sys, prometheus_client.parser as p
            seen = set()
            for f in p.text_string_to_metric_families(sys.stdin.read()):
                assert f.documentation and f.type != 'unknown', f.name
                assert f.name not in seen, f.name
                seen.add(f.name)
                for s in f.samples:
                    if f.type == 'counter': assert s.name.endswith('_total'), s.name
                    if s.name.startswith('newswire_deliveries_total') and s.value: print(s.labels['outcome'], int(s.value))
                    if s.name == 'newswire_queue_seconds_bucket' and s.labels['le'] == '+Inf': print('queue', int(s.value))
                    if s.name == 'newswire_dead_letters_total' and s.value: print(s.labels['lane'], s.labels['reason'], int(s.value))
            """
        let (status, output) = try await #require(python).run(program, input: page.text)
        #expect(status == 0)
        #expect(
            output.split(separator: "\n").sorted() == [
                "accepted 1", "live truncated-json 1", "live unknown-category 1", "queue 1", "undecodable 1",
                "unroutable 1",
            ])
        try await room.close()
    }
}
