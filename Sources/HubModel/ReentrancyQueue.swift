internal import DequeModule

/// Work on one event loop whose steps may call back and add more work. A step that is added during another one waits
/// until that step has returned, so that steps never nest and keep their order:
///
/// ```swift
/// queue.append(step)
/// guard queue.startDraining() else { return }
/// while let step = queue.next() { carryOut(step) }
/// ```
package struct ReentrancyQueue<Step> {
    private var waiting: Deque<Step> = []
    private var isDraining = false

    package init() {}

    package mutating func append(_ step: Step) { waiting.append(step) }

    /// - Returns: `false` if called from within a step. The outer loop then carries out the waiting steps.
    package mutating func startDraining() -> Bool {
        if isDraining { return false }
        isDraining = true
        return true
    }

    /// Combines `startDraining` and `next`. Returns the first step, or `nil` if no step waits or if called from within
    /// a step.
    package mutating func first() -> Step? { startDraining() ? next() : nil }

    /// The next step; `nil` if no step is left, which ends the draining.
    package mutating func next() -> Step? {
        if let step = waiting.popFirst() { return step }
        isDraining = false
        return nil
    }
}
