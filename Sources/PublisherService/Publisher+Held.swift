import ControlIO
import Logging
import NewsModel
import PublishEngine

/// Events that wait for their time on the held topic.
extension Publisher {
    /// What is due later goes to the held topic; what is due sooner waits in its lane's window.
    package static let holdsBeyond = Duration.seconds(60)

    /// - Parameter tell: tells every engine of the process; called on the link's thread.
    func heldLink(_ tell: @escaping @Sendable (Input) -> Void) -> HeldLink {
        let topic = settings.control.topics.held
        return HeldLink(settings: settings.kafka, topic: topic, clock: { [telemetry] in telemetry.clock.now }) {
            [log, telemetry] notice in
            switch notice {
            case .held(let stories): tell(.held(stories))
            case .isThere(let isThere):
                tell(.holdsBeyond(isThere ? Self.holdsBeyond : nil))
                switch (isThere, telemetry.heldTopic(isThere: isThere)) {
                case (true, false), (true, nil):
                    log.info("events wait for their time on the held topic", metadata: ["topic": "\(topic)"])
                case (false, true):
                    log.warning(
                        "the held topic is away: what is under embargo waits in memory, up to a bound",
                        metadata: ["topic": "\(topic)"])
                // A missing topic was a warning at the start.
                case (true, true), (false, _): break
                }
            case .failed(let failure):
                telemetry.failed(failure)
                log.error("held topic", metadata: ["failure": "\(failure)"])
            case .status(let status): telemetry.held(status)
            }
        }
    }
}
