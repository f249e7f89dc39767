/** A judge of one server, and what a test shows it: answers, lists, readings of programs and notifications. */
import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import type { Peer } from '../../../src/core/findings/peer.ts';
import { ServerJudge } from '../../../src/csip/findings/judge.ts';
import type { ServerJudgeOptions } from '../../../src/csip/findings/judge.ts';
import type { ListedProgram } from '../../../src/csip/events/model.ts';
import type { SeenAnswer, SepRequest } from '../../../src/csip/transport/exchange.ts';
import type { SeenList } from '../../../src/csip/walk/reader.ts';
import { parseDocument } from '../../../src/csip/xml/codec.ts';
import type { ReceivedDocument } from '../../../src/csip/xml/schema.ts';
import { xmlLimits } from '../../../src/csip/xml/tree.ts';
import { csipRules } from '../../../src/finding-rules/csip.ts';
import { FindingsRig } from '../../support/findings.ts';
import { Scene } from '../events/scene.ts';
import { lfdi, target } from '../walk/scripted.ts';

export const origin = 'https://head-end';

/** A whole document of IEEE 2030.5. */
export const xml = (name: string, inner = '', attributes = ''): string =>
  `<${name} xmlns="urn:ieee:std:2030.5:ns" xmlns:csipaus="https://csipaus.org/ns" ${attributes}>${inner}</${name}>`;

/** A Time to which nothing can be objected. */
export const time = (currentTime: number, over: Readonly<Record<string, number>> = {}, attributes = ''): string => {
  const members = { currentTime, dstEndTime: 0, dstOffset: 0, dstStartTime: 0, localTime: currentTime, quality: 7 };
  const texts = Object.entries({ ...members, tzOffset: 0, ...over }).map(
    ([name, value]) => `<${name}>${value}</${name}>`,
  );
  return xml('Time', texts.join(''), attributes);
};

export class JudgeRig {
  readonly findings = new FindingsRig();
  readonly judge: ServerJudge;
  readonly peer: Peer;
  readonly scene = new Scene();
  /** mRIDs that the server lists */
  readonly listed = new Set<string>();

  constructor(over: Partial<ServerJudgeOptions> = {}) {
    const { registry, wall } = this.findings;
    this.judge = new ServerJudge({
      findings: registry,
      rules: registry.rules('csip', csipRules),
      clock: wall,
      origin,
      isSecure: true,
      subscribes: true,
      ownLfdi: lfdi,
      lfdis: new Set([lfdi]),
      isAggregator: false,
      lists: (mrid) => this.listed.has(mrid),
      tls: () => ({ handshake: 'TLSv1.2 ECDHE-ECDSA-AES128-CCM8', certificate: 'ab' }),
      ...over,
    });
    this.peer = registry.peer({ protocol: 'csip', address: origin });
    this.peer.isValid = true;
    this.judge.reachable(true);
  }

  /** The answer to a request. @param body XML; its document is read if it can be */
  answer(request: Partial<SepRequest>, body: string, over: Partial<SeenAnswer> = {}): this {
    const asked: SepRequest = { method: 'GET', href: '/tm', resource: 'Time', deviceIndex: 0, ...request };
    const status = over.status ?? 200;
    let document: ReceivedDocument | null = null;
    let unreadable: string | null = null;
    try {
      if (body !== '') document = parseDocument(Buffer.from(body), xmlLimits, true);
    } catch (error) {
      if (!(error instanceof SimError)) throw error;
      unreadable = error.message;
    }
    this.judge.answered({
      request: asked,
      status,
      url: new URL(asked.href, origin).href,
      redirects: 0,
      headers: { 'content-type': 'application/sep+xml' },
      body: Buffer.from(body),
      document,
      unreadable,
      middleMonotonicMs: this.findings.wall.monotonicMs(),
      durationMs: 10,
      isDisturbed: false,
      message: { channel: 'csip', id: 7 },
      ...over,
    });
    return this;
  }

  /** The answer to a GET of a document, with its root as the resource. */
  get(body: string, request: Partial<SepRequest> = {}, over: Partial<SeenAnswer> = {}): this {
    const resource = /<(?:\w+:)?(\w+)/.exec(body)?.[1] as SepRequest['resource'];
    return this.answer({ resource, href: `/${resource}`, ...request }, body, over);
  }

  list(name: SeenList['name'], items: readonly object[], over: Partial<SeenList> = {}): this {
    this.judge.list({
      name,
      url: `${origin}/list?s=0&l=100`,
      items,
      isWhole: true,
      isOnePage: true,
      deviceIndex: 0,
      ...over,
    });
    return this;
  }

  /** A reading of the programs of the EndDevice, which its schedule takes after the judge. */
  read(nowS: number, ...programs: readonly ListedProgram[]): this {
    this.judge.programs(target, { programs, events: this.scene.state.events, deviceIndex: 0, nowS });
    this.scene.read(nowS, ...programs);
    return this;
  }

  notify(subscribedResource: string, url = `${origin}/list`): this {
    const members = `<subscribedResource>${subscribedResource}</subscribedResource><status>0</status>`;
    const document = parseDocument(
      Buffer.from(xml('Notification', `${members}<subscriptionURI>/sub/1</subscriptionURI>`)),
      xmlLimits,
      true,
    );
    if (document.name !== 'Notification') throw new Error(document.name);
    this.judge.notified(url, { document, notification: document.value, peer: 'head-end:1' });
    return this;
  }

  /** Lets seconds pass. */
  pass(seconds: number): this {
    this.findings.timers.pass(seconds * 1000);
    return this;
  }
}

type RuleName = keyof typeof csipRules;

interface RuleCases {
  /** the server breaks the rule, and no other one */
  readonly wrong: (rig: JudgeRig) => unknown;
  /** of the first case: words, or a member of its facts as JSON */
  readonly evidence: string;
  /** an occasion at which the server keeps the rule */
  readonly right: (rig: JudgeRig) => unknown;
  /** the similar behaviour that is right */
  readonly trap: (rig: JudgeRig) => unknown;
  readonly options?: Partial<ServerJudgeOptions>;
}

/** The three tests of a rule. */
export function judges(name: RuleName, { wrong, evidence, right, trap, options }: RuleCases): void {
  const id = `csip.${name}`;

  it(`${name}: a wrong server is found, with its evidence`, () => {
    const rig = new JudgeRig(options);
    wrong(rig);
    expect(rig.findings.ids(rig.peer)).to.deep.equal([id]);
    const [first] = rig.findings.row(rig.peer, id).cases;
    expect(`${first?.text} ${JSON.stringify(first?.facts)}`).to.contain(evidence);
  });

  it(`${name}: a right server is not, and the rule counts as exercised`, () => {
    const rig = new JudgeRig(options);
    right(rig);
    expect(rig.findings.ids(rig.peer)).to.deep.equal([]);
    expect(rig.findings.row(rig.peer, id).state).to.equal('held');
  });

  it(`${name}: the trap is left alone`, () => {
    const rig = new JudgeRig(options);
    trap(rig);
    expect(rig.findings.ids(rig.peer)).to.deep.equal([]);
  });
}
