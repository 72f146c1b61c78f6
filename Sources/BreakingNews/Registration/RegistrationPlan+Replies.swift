import NotificationHub

extension RegistrationPlan {
    /// The result of a call.
    enum Answer: Sendable, Hashable {
        case response(HubResponse)
        case unreachable(String)
    }

    /// The caller's next step with its token.
    enum TokenAdvice: Sendable {
        case keep, renew
    }

    /// - Parameter random: spreads retries, so that devices do not all return at once.
    mutating func handle(
        _ answer: Answer, to call: RegistrationCall, at now: Int64, using random: inout some RandomNumberGenerator
    ) -> TokenAdvice {
        guard call.generation == generation else { return .keep }
        switch answer {
        case .unreachable(let why): fail(.unreachable(why), at: now, using: &random)
        case .response(let response):
            let reply = HubReply(status: response.status, fields: response.fields, body: response.body, now: now)
            switch (response.status, call.kind) {
            case (200...204, _), (404, .drop), (404, .uninstall), (410, .drop):
                succeed(call, response, at: now, using: &random)
            case (410, .put(let template, _)): giveUpID(template, at: now, using: &random)
            case (401, _) where !hasRenewedToken:
                hasRenewedToken = true
                return .renew
            case (400, _), (405...407, _), (410...428, _):
                switch call.kind {
                // A registration that cannot be removed must not block the others for ever.
                case .drop(let id):
                    remove(id)
                    proceed()
                // An installation can be written although the hub refuses to list the earlier ones.
                case .look where settings.form == .installation:
                    round?.hasLooked = true
                    proceed()
                default: fail(.refused(status: reply.status, detail: reply.explanation), at: now, using: &random)
                }
            case (401, _), (404, _):
                fail(.forbidden(status: reply.status, detail: reply.explanation), at: now, using: &random)
            // A 403 with Retry-After is how older versions report throttling.
            case (403, _) where reply.retryAfter == nil:
                fail(.forbidden(status: reply.status, detail: reply.explanation), at: now, using: &random)
            default: fail(.busy(status: reply.status), retryAfter: reply.retryAfter, at: now, using: &random)
            }
        }
        return .keep
    }

    private mutating func succeed(
        _ call: RegistrationCall, _ response: HubResponse, at now: Int64, using random: inout some RandomNumberGenerator
    ) {
        switch call.kind {
        case .look:
            round?.hasLooked = true
            takeOver(RegistrationFeed(parsing: response.body))
        case .reserve(let template):
            let location = response.fields.first { $0.name.lowercased() == "location" }?.value
            guard let id = location.flatMap(HubPath.id(inLocation:)) else {
                return fail(.busy(status: response.status), at: now, using: &random)
            }
            record.setID(id, template: template)
        case .put(let template, _): round?.remaining.removeAll { $0 == template }
        case .install: round?.hasInstalled = true
        case .drop(let id): remove(id)
        case .uninstall(let id):
            if record.installation == id { record.installation = nil }
            record.surplusInstallations?.removeAll { $0 == id }
        }
        proceed()
    }

    private mutating func proceed() {
        failure = nil
        hasRenewedToken = false
    }

    /// Restores a lost record. The device takes over the registrations that it would make now, or the first
    /// installation. All other ones of the channel are leftovers, which would repeat every notification.
    private mutating func takeOver(_ feed: RegistrationFeed) {
        for item in feed.items where !record.registrations.contains(where: { $0.id == item.id }) {
            if let installation = item.installation {
                // The hub manages the registrations of an installation. One that is not wanted is removed as a whole
                // at the end of the round.
                record.add(installation: installation)
                continue
            }
            let template = item.isTemplate ? item.templateName ?? "" : nil
            let isWanted = round?.remaining.contains(template) ?? false
            if isWanted, record.id(template: template) == nil {
                record.setID(item.id, template: template)
            } else if !record.surplus.contains(item.id) {
                record.surplus.append(item.id)
            }
        }
    }

    /// Requests a new id, once, because a hub drops ids that were not used for a long time.
    private mutating func giveUpID(
        _ template: String?, at now: Int64, using random: inout some RandomNumberGenerator
    ) {
        record.setID(nil, template: template)
        guard let replaced = round?.replaced, !replaced.contains(template) else {
            round = nil
            return fail(.busy(status: 410), at: now, using: &random)
        }
        round?.replaced.append(template)
        // The registration was known until now, so the hub need not be asked for it.
        round?.hasLooked = true
    }

    private mutating func remove(_ id: String) {
        record.registrations.removeAll { $0.id == id }
        record.surplus.removeAll { $0 == id }
    }

    private mutating func fail(
        _ reason: RegistrationFailure.Reason, retryAfter: Duration? = nil, at now: Int64,
        using random: inout some RandomNumberGenerator
    ) {
        hasRenewedToken = false
        let attempts = min(1_000_000, (failure?.attempts ?? 0) + 1)
        let longest = max(1, settings.retryMax)
        let ceiling =
            switch reason {
            // Only a person can resolve these, so retry slowly.
            case .forbidden, .refused, .tooManyTags: longest
            case .unreachable, .busy: min(longest, max(1, settings.retryFirst) << min(20, Int64(attempts - 1)))
            }
        let pause = ceiling - Int64.random(in: 0...(ceiling / 2), using: &random)
        let asked = retryAfter?.components.seconds
        failure = RegistrationFailure(
            reason: reason, attempts: attempts, retryAt: now + max(pause, asked ?? 0), isRetryTimeFromHub: asked != nil)
    }
}
