import ControlIO
import KafkaIO
import Logging
import NewsModel
import PublishEngine

/// The publisher's use of the held topic, which keeps events until they are due.
extension Publisher {
    /// Events that are due later than this go to the held topic. The others wait in their lane's window.
    package static let holdsBeyond = Duration.seconds(60)

    /// - Parameter tell: passes an input to every engine of the process. Called on the link's thread.
    func heldLink(_ kafka: KafkaSettings, _ tell: @escaping @Sendable (Input) -> Void) -> HeldLink {
        let topic = settings.control.topics.held
        return HeldLink(settings: kafka, topic: topic, clock: { [telemetry] in telemetry.clock.now }) {
            [log, telemetry] notice in
            switch notice {
            case .held(let stories): tell(.held(stories))
            case .isThere:
                tell(.holdsBeyond(Self.holdsBeyond))
                guard telemetry.heldTopicIsThere() else { return }
                log.info("events wait for their time on the held topic", metadata: ["topic": "\(topic)"])
            case .isAway(let failure):
                tell(.holdsBeyond(nil))
                if !HeldTopicState.isMissing(failure) { telemetry.failed(failure) }
                // A warning at start has already reported a topic that never existed.
                guard telemetry.heldTopicIsAway(failure, at: telemetry.clock.now.steady) else { return }
                log.warning(
                    "the held topic is away: what is under embargo waits in memory, up to a bound",
                    metadata: ["topic": "\(topic)", "failure": "\(failure)"])
            case .failed(let failure):
                telemetry.failed(failure)
                log.error("held topic", metadata: ["failure": "\(failure)"])
            case .status(let status): telemetry.held(status)
            case .vanished(let restored, let lost):
                log.log(
                    level: lost > 0 ? .error : .warning,
                    "held events vanished from their topic; those whose originals are on their lanes are held again",
                    metadata: ["topic": "\(topic)", "restored": "\(restored)", "lost": "\(lost)"])
            }
        }
    }
}
