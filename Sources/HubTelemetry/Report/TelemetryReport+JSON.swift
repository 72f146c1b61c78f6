import NewsModel
import NotificationHub

/// The report in the form that programs and the page read.
extension TelemetryReport {
    /// - Parameters:
    ///   - version: the program's version.
    ///   - limit: the most tags to include, those met last first.
    public func json(version: String, limit: Int = .max) -> [UInt8] {
        JSONWriter.object(reserving: 4_096) { json in
            json.field("at", at)
            json.field("startedAt", startedAt)
            json.field("version", version)
            notReady.writeReadiness(into: &json)
            json.field("open", open)
            json.field("oldestSeconds", oldest?.components.seconds)
            json.field("problem", problem?.rawValue)
            json.field("ended", figures.ended)
            json.field("targets", figures.targets)
            json.field("successes", figures.successes)
            writeSends(into: &json)
            writeOutcomes(into: &json)
            writeTags(limit, into: &json)
            writeQuestions(into: &json)
        }
    }

    private func writeSends(into json: inout JSONWriter) {
        json.array("sends") { json in
            for (kind, sends) in figures.sends.sorted(by: { $0.key < $1.key }) {
                json.object { json in
                    json.field("lane", kind.lane)
                    json.field("platform", kind.platform.rawValue)
                    json.object("states") { json in
                        for (state, count) in sends.endedByState where count > 0 {
                            json.field(named: state, Int64(count))
                        }
                    }
                    json.field("targets", sends.targets)
                    json.field("successes", sends.successes)
                    json.field("timed", Int64(clamping: sends.timed))
                    json.object("secondsWithin") { json in
                        json.field("p50", sends.secondsWithin(percent: 50))
                        json.field("p90", sends.secondsWithin(percent: 90))
                    }
                }
            }
        }
    }

    private func writeOutcomes(into json: inout JSONWriter) {
        json.array("outcomes") { json in
            for (outcome, seen) in figures.outcomes.sorted(by: { $0.key < $1.key }) {
                json.object { json in
                    json.field("lane", outcome.lane)
                    json.field("platform", outcome.platform)
                    json.field("outcome", outcome.outcome)
                    json.field("devices", seen.count)
                    json.field("last", seen.last)
                }
            }
        }
    }

    private func writeTags(_ limit: Int, into json: inout JSONWriter) {
        let tags = figures.withoutTarget.sorted { ($1.value.last, $0.key) < ($0.value.last, $1.key) }
        json.field("withoutTargetCount", tags.count)
        json.array("withoutTarget") { json in
            for (tag, seen) in tags.prefix(limit) {
                json.object { json in
                    json.field("tag", tag)
                    json.field("sends", seen.count)
                    json.field("last", seen.last)
                }
            }
        }
    }

    private func writeQuestions(into json: inout JSONWriter) {
        json.object("answers") { json in
            for answer in TelemetryFigures.Answer.allCases {
                json.field(named: answer.rawValue, Int64(figures.answers[answer] ?? 0))
            }
        }
        json.object("skipped") { json in
            for skip in TelemetryFigures.Skip.allCases {
                json.field(named: skip.rawValue, Int64(figures.skipped[skip] ?? 0))
            }
        }
        json.object("records") { json in
            json.field("stored", figures.stored)
            json.field("refused", figures.refused)
            json.field("unreadable", figures.unreadable)
        }
    }
}
