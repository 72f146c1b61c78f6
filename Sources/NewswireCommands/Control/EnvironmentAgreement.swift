package import EditorialControl

/// Compares the hub's environment in the settings with the one on the control topic. A process whose settings disagree with the
/// topic does not start.
package enum EnvironmentAgreement: Sendable, Hashable {
    /// Neither the settings nor the topic name an environment.
    case unnamed
    /// The topic names no environment yet. `newswire topics --create` or the first process that starts writes it.
    case unwritten(HubEnvironment)
    case agreed(HubEnvironment)
    case disagreed(ours: HubEnvironment?, theirs: HubEnvironment)

    package init(ours: HubEnvironment?, theirs: HubEnvironment?) {
        self =
            switch (ours, theirs) {
            case (nil, nil): .unnamed
            case (let ours?, nil): .unwritten(ours)
            case (let ours, let theirs?): ours == theirs ? .agreed(theirs) : .disagreed(ours: ours, theirs: theirs)
            }
    }
}
