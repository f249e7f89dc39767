/** The judge of one server at one connection: it hands what it sees to the judges of the topics. */
import type { Findings, RuleHandle } from '../../core/findings/rule.ts';
import type { WallClock } from '../../core/time/clock.ts';
import { documentRules } from '../../finding-rules/csip/documents.ts';
import { eventRules } from '../../finding-rules/csip/events.ts';
import { messageRules } from '../../finding-rules/csip/messages.ts';
import { resourceRules } from '../../finding-rules/csip/resources.ts';
import type { ExchangeWitness, RefusalReason, SeenAnswer, SepRequest } from '../transport/exchange.ts';
import type { EndDeviceFacts, WalkTarget } from '../walk/model.ts';
import type { ListName, ListWitness, SeenList } from '../walk/reader.ts';
import type { ReceivedNotification } from '../notify/listener.ts';
import { AnswerJudge } from './answers.ts';
import { TakenCapabilities } from './capabilities.ts';
import { DocumentJudge } from './documents.ts';
import { EventJudge, newMemory } from './events.ts';
import type { EventMemory } from './events.ts';
import { LinkJudge } from './links.ts';
import { ListLinkJudge } from './list-links.ts';
import { pathOf } from './model.ts';
import type { CsipRules, JudgeParts, SeenPrograms } from './model.ts';
import { NotificationJudge } from './notifications.ts';
import { ResourceJudge } from './resources.ts';
import type { ResourceJudgeOptions } from './resources.ts';

export interface ServerJudgeOptions extends ResourceJudgeOptions {
  readonly findings: Findings;
  readonly rules: CsipRules;
  readonly clock: WallClock;
  /** of the server: scheme, host and port */
  readonly origin: string;
  /** true: the client subscribes to resources */
  readonly subscribes: boolean;
  /** true: the server lists the event, for one of the EndDevices of the connection */
  readonly lists: (mrid: string) => boolean;
  /** version and suite of the handshake, and the certificate of the server; null: none */
  readonly tls: () => { readonly handshake: string; readonly certificate: string | null } | null;
}

type RuleNames = keyof CsipRules;
type RuleNamesIn = { readonly [Name in RuleNames]?: unknown };

export class ServerJudge implements ExchangeWitness, ListWitness {
  readonly #options: ServerJudgeOptions;
  readonly #parts: JudgeParts;
  readonly #documents: DocumentJudge;
  readonly #answers: AnswerJudge;
  readonly #links: LinkJudge;
  readonly #listLinks: ListLinkJudge;
  readonly #capabilities = new TakenCapabilities();
  readonly #resources: ResourceJudge;
  readonly #events: EventJudge;
  readonly #notifications: NotificationJudge;
  readonly #memories = new Map<WalkTarget, EventMemory>();
  #isConnected = false;
  #tls: string | null = null;

  constructor(options: ServerJudgeOptions) {
    const { findings, rules, clock, origin, isSecure, subscribes } = options;
    const peer = findings.peer({ protocol: 'csip', address: origin });
    if (!isSecure) peer.lacking.set('tls', 'the connection has no TLS (--csip_enc no)');
    if (subscribes) peer.lacking.delete('subscriptions');
    else peer.lacking.set('subscriptions', 'the client does not subscribe (--csip_subscribe no)');
    const parts = { findings, rules, peer, clock };
    this.#options = options;
    this.#parts = parts;
    this.#documents = new DocumentJudge(parts);
    this.#answers = new AnswerJudge(parts, options);
    this.#resources = new ResourceJudge(parts, options);
    this.#links = new LinkJudge(parts, () => this.#resources.isKnown);
    this.#listLinks = new ListLinkJudge(parts);
    this.#events = new EventJudge(parts);
    this.#notifications = new NotificationJudge(parts);
  }

  /** The server answers, or does so no more. */
  reachable(isReachable: boolean): void {
    if (isReachable === this.#isConnected) return;
    const { peer, clock } = this.#parts;
    this.#isConnected = isReachable;
    if (isReachable) peer.connected(clock.nowMs());
    else peer.disconnected(clock.nowMs());
  }

  answered(seen: SeenAnswer): void {
    const { peer } = this.#parts;
    peer.requests += 1;
    if (seen.document !== null && seen.status === 200) peer.isValid = true;
    if (!peer.isValid) return;
    this.#facets(seen);
    const isRead = seen.request.method === 'GET' && seen.status === 200;
    if (isRead) this.#judge(documentRules, () => this.#documents.answered(seen));
    if (isRead) this.#judge(resourceRules, () => this.#resources.answered(seen));
    if (isRead) this.#judge(resourceRules, () => this.#listLinks.answered(seen));
    const isPosted = seen.request.method === 'POST' && seen.status < 300 && !seen.isDisturbed;
    if (isPosted) this.#judge(resourceRules, () => this.#resources.registered(seen));
    this.#judge(eventRules, () => this.#capabilities.answered(seen, this.#parts.clock.monotonicMs()));
    this.#judge(resourceRules, () => this.#links.answered(seen));
    this.#judge(messageRules, () => this.#answers.answered(seen));
  }

  refused(request: SepRequest, reason: RefusalReason, text: string): void {
    this.#judge(resourceRules, () => this.#links.refused(request, reason, text));
  }

  certificateExpired(): void {
    this.#judge(resourceRules, () => this.#resources.expired());
  }

  list(seen: SeenList): void {
    this.#judge(resourceRules, () => this.#resources.list(seen));
    this.#judge(messageRules, () => this.#notifications.list(seen));
  }

  pageRepeated(name: ListName, url: string, deviceIndex: number | null): void {
    const { rules, peer } = this.#parts;
    this.#judge(documentRules, () =>
      rules.list_paging.broken(
        peer,
        deviceIndex,
        () => ({ text: `${name} begins with its first item on each page`, facts: { path: pathOf(url) } }),
        name,
      ),
    );
  }

  endDevice(target: WalkTarget, { document }: EndDeviceFacts): void {
    this.#judge(resourceRules, () => this.#resources.endDevice(target, document));
  }

  /** Judges a reading of the programs of an EndDevice before its schedule takes it. */
  programs(target: WalkTarget, seen: SeenPrograms): void {
    const memory = this.#memories.get(target) ?? newMemory();
    this.#memories.set(target, memory);
    this.#judge(eventRules, () => {
      const capability = this.#capabilities.of(target.deviceIndex, target.derCount());
      this.#events.programs(seen, memory, capability);
    });
  }

  subscribed(url: string, isActive: boolean): void {
    this.#guard(messageRules, () => this.#notifications.subscribed(url, isActive));
  }

  /** @param url the resource of the subscription */
  notified(url: string, { document, notification }: ReceivedNotification): void {
    // also while findings are off: it ends a wait, which would accuse once they are on again
    this.#guard(messageRules, () => this.#notifications.notified(url, notification));
    this.#judge(documentRules, () => this.#documents.document(document, { url, message: null, deviceIndex: null }));
  }

  close(): void {
    this.reachable(false);
    this.#notifications.close();
  }

  #judge(rows: RuleNamesIn, judge: () => void): void {
    if (this.#parts.findings.on) this.#guard(rows, judge);
  }

  /** Calls a judge. One that throws is switched off. */
  #guard(rows: RuleNamesIn, judge: () => void): void {
    const { findings, rules } = this.#parts;
    try {
      judge();
    } catch (error) {
      const names = (Object.keys(rules) as RuleNames[]).filter((name) => name in rows);
      findings.failed(Object.fromEntries(names.map((name): [string, RuleHandle] => [name, rules[name]])), error);
    }
  }

  #facets({ headers }: SeenAnswer): void {
    const { peer } = this.#parts;
    const { server } = headers;
    if (server !== undefined) peer.facet('server', server);
    const tls = this.#options.tls();
    const text = `${tls?.handshake} ${tls?.certificate}`;
    if (tls === null || text === this.#tls) return;
    this.#tls = text;
    this.#judge(resourceRules, () => this.#resources.secured());
    peer.facet('tls', tls.handshake);
    if (tls.certificate !== null) peer.facet('certificate', tls.certificate);
  }
}
