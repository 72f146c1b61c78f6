import Logging
import NIOCore
import PublishEngine
import SchemaRegistry

/// Asks the schema registry for one shard, each question until it is answered.
///
/// Confined to one event loop.
final class SchemaQuestions {
    private let eventLoop: any EventLoop
    private let registry: SchemaRegistry?
    private let log: Logger
    private let onAnswer: (Input) -> Void
    /// The questions in flight, by the schema's id.
    private var questions: [UInt32: Task<Void, Never>] = [:]

    init(_ eventLoop: any EventLoop, _ registry: SchemaRegistry?, _ log: Logger, onAnswer: @escaping (Input) -> Void) {
        self.eventLoop = eventLoop
        self.registry = registry
        self.log = log
        self.onAnswer = onAnswer
    }

    /// Asks unless the question is in flight, because several lanes may await the same schema.
    func ask(_ id: UInt32) {
        guard let registry, questions[id] == nil else { return }
        let questions = NIOLoopBound(self, eventLoop: eventLoop)
        self.questions[id] = Task { [eventLoop, log] in
            let schema = await registry.schema(id) { reason in
                log.warning("a schema is awaited", metadata: ["schema": "\(id)", "reason": "\(reason)"])
                eventLoop.execute { questions.value.onAnswer(.registryFailed(reason)) }
            }
            guard let schema else { return }
            eventLoop.execute {
                questions.value.questions[id] = nil
                questions.value.onAnswer(.schema(id, schema))
            }
        }
    }

    func close() {
        for question in questions.values { question.cancel() }
        questions = [:]
    }
}
