internal import DequeModule

/// Work on one event loop whose steps may call back and add more work before they return. A step added while another is
/// being carried out waits its turn, so that steps never nest and keep their order:
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

    /// - Returns: `false` when the caller was called from within a step: the steps that wait follow that one.
    package mutating func startDraining() -> Bool {
        if isDraining { return false }
        isDraining = true
        return true
    }

    /// The first step; `nil` when none waits, or when the caller was called from within a step. `startDraining` and `next` in
    /// one call.
    package mutating func first() -> Step? { startDraining() ? next() : nil }

    /// The next step; `nil` when none is left, which ends the draining.
    package mutating func next() -> Step? {
        if let step = waiting.popFirst() { return step }
        isDraining = false
        return nil
    }
}
