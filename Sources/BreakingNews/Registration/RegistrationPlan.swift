import NotificationHub

/// All decisions about a registration: from the wanted subscription, the hub's replies and the time, it determines the
/// next call. Times are Unix seconds.
struct RegistrationPlan: Sendable {
    enum Step: Sendable, Hashable {
        case call(RegistrationCall)
        /// Nothing to do before this time; `nil` means nothing to do at all.
        case wait(until: Int64?)
    }

    enum Intent: Sendable, Hashable {
        case nothing
        case subscription(Subscription)
    }

    /// The progress from the hub's present state to the wanted one.
    struct Round: Sendable, Hashable {
        /// Templates whose registration is still to be written; `nil` stands for the native one.
        var remaining: [String?]
        /// True once the hub was asked for its registrations of this channel.
        var hasLooked = false
        /// Templates whose registration got a new id because the hub had dropped the old one.
        var replaced: [String?] = []
        var hasInstalled = false
    }

    let settings: RegistrationSettings
    /// The record, which must be stored before each call is made and after each reply is handled.
    var record: RegistrationRecord
    var round: Round?
    var failure: RegistrationFailure?
    var hasRenewedToken = false
    private(set) var intent: Intent?
    private(set) var generation = 0
    private let newInstallation: String

    /// - Parameters:
    ///   - record: the stored record; ignored when it belongs to another hub.
    ///   - newInstallation: the installation id for a record without one.
    init(_ settings: RegistrationSettings, record: RegistrationRecord?, newInstallation: String) {
        self.settings = settings
        self.newInstallation = newInstallation
        let hub = "\(settings.connection.endpoint)\(settings.hub)"
        self.record = record.flatMap { $0.hub == hub ? $0 : nil } ?? RegistrationRecord(hub: hub)
        if self.record.isLeaving == true { intent = .nothing }
    }

    /// - Parameter subscription: `nil`, or one that no send would reach, to remove the registration.
    mutating func want(_ subscription: Subscription?) {
        let wanted: Intent = subscription.flatMap { isReachable($0) ? .subscription($0) : nil } ?? .nothing
        record.isLeaving = wanted == .nothing && !hasNothing ? true : nil
        guard intent != wanted else { return }
        intent = wanted
        // Calls in flight may still take effect, but their replies do not apply to the new subscription.
        generation += 1
        round = nil
        hasRenewedToken = false
        if failure?.isRetryTimeFromHub == false { failure = nil }
    }

    /// True if sends can address the subscription by a tag or, in an installation, by its user.
    private func isReachable(_ subscription: Subscription) -> Bool {
        !subscription.tags.isEmpty || (subscription.userID != nil && settings.form == .installation)
    }

    /// Makes a registration due now although nothing changed.
    mutating func refresh() { record.registered = nil }

    var state: RegistrationState {
        if let failure { return .waiting(failure) }
        switch intent {
        case nil:
            return record.registered.map { .registered(since: $0.at) } ?? (hasNothing ? .unregistered : .registering)
        case .nothing: return hasNothing ? .unregistered : .registering
        case .subscription(let subscription):
            guard let registered = record.registered, registered.subscription == subscription,
                registered.form == settings.form
            else { return .registering }
            return .registered(since: registered.at)
        }
    }

    mutating func next(at now: Int64) -> Step {
        if let retryAt = failure?.retryAt, now < retryAt, retryAt - now <= Self.waitMax {
            return .wait(until: retryAt)
        }
        switch intent {
        case nil: return .wait(until: nil)
        case .nothing: return nextRemoval()
        case .subscription(let subscription) where subscription.tags.count > Subscription.tagsMax:
            // The hub would refuse it at every attempt. Only another choice helps.
            failure = RegistrationFailure(
                reason: .tooManyTags(count: subscription.tags.count), attempts: 1, retryAt: now,
                isRetryTimeFromHub: false)
            return .wait(until: nil)
        case .subscription(let subscription):
            if round == nil, let due = dueAt(subscription), let at = record.registered?.at,
                (at..<max(at, due)).contains(now)
            {
                return .wait(until: due)
            }
            return nextOfRound(subscription, at: now)
        }
    }

    /// The longest wait in seconds, so that old deadlines do not block retries after a fast clock is corrected.
    private static let waitMax: Int64 = 2 * 24 * 3600

    /// The time at which to register again; `nil` when the hub does not have the wanted subscription.
    private func dueAt(_ subscription: Subscription) -> Int64? {
        guard let registered = record.registered, registered.subscription == subscription,
            registered.form == settings.form
        else { return nil }
        let (due, overflow) = registered.at.addingReportingOverflow(max(0, settings.refreshAfter))
        return overflow ? .max : due
    }

    // MARK: Calls

    private mutating func nextOfRound(_ subscription: Subscription, at now: Int64) -> Step {
        let round = round ?? Round(remaining: forms(of: subscription))
        self.round = round
        switch settings.form {
        case .installation:
            guard round.hasInstalled else {
                // The record may be lost. An earlier installation under another id would keep its tags at the hub.
                if record.installation == nil, !round.hasLooked { return call(.look, subscription) }
                let id = record.installation ?? newInstallation
                return change(.install(id: id), subscription)
            }
            // Other registrations would deliver every notification twice.
            if let known = record.registrations.first { return change(.drop(id: known.id), subscription) }
            if let id = record.surplusInstallations?.first { return change(.uninstall(id: id), subscription) }
        case .registrations:
            for template in round.remaining {
                if let id = record.id(template: template) {
                    return change(.put(template: template, id: id), subscription)
                }
                return call(round.hasLooked ? .reserve(template: template) : .look, subscription)
            }
            let forms = forms(of: subscription)
            if let other = record.registrations.first(where: { !forms.contains($0.template) }) {
                return change(.drop(id: other.id), subscription)
            }
            if let id = record.installations.first { return change(.uninstall(id: id), subscription) }
        }
        if let id = record.surplus.first { return change(.drop(id: id), subscription) }
        self.round = nil
        record.registered = RegistrationRecord.Registered(subscription: subscription, form: settings.form, at: now)
        return .wait(until: dueAt(subscription))
    }

    private mutating func nextRemoval() -> Step {
        if let known = record.registrations.first { return change(.drop(id: known.id), nil) }
        if let id = record.surplus.first { return change(.drop(id: id), nil) }
        if let id = record.installations.first { return change(.uninstall(id: id), nil) }
        record.isLeaving = nil
        return .wait(until: nil)
    }

    private var hasNothing: Bool {
        record.registrations.isEmpty && record.surplus.isEmpty && record.installations.isEmpty
    }

    private func forms(of subscription: Subscription) -> [String?] {
        guard case .registrations(let native) = settings.form else { return [] }
        return subscription.templates.map(\.name) + (native ? [nil] : [])
    }

    /// A call that changes the hub. The hub's state is uncertain until the round is complete.
    private mutating func change(_ kind: RegistrationCall.Kind, _ subscription: Subscription?) -> Step {
        record.registered = nil
        if case .install(let id) = kind { record.installation = id }
        return call(kind, subscription)
    }

    private func call(_ kind: RegistrationCall.Kind, _ subscription: Subscription?) -> Step {
        .call(RegistrationCall(kind: kind, subscription: subscription, generation: generation, settings: settings))
    }
}
