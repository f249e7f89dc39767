/** Parsers of the wire: frames of Modbus and DNP3, XML of IEEE 2030.5, frames of OCPP, bodies of REST. */
import { readFileSync } from 'node:fs';
import { parsingBody } from '../../../src/api/http/body.ts';
import { runWhole } from '../../../src/core/turns.ts';
import { parseDocument } from '../../../src/csip/xml/codec.ts';
import { describe as inWords } from '../../../src/dnp3/stack/application/describe.ts';
import { parseRequest } from '../../../src/dnp3/stack/application/parse.ts';
import { LinkParser } from '../../../src/dnp3/stack/link.ts';
import { Reassembler } from '../../../src/dnp3/stack/transport.ts';
import { parseFrame } from '../../../src/ocpp/rpc/frames.ts';
import { MbapFraming } from '../../../src/sunspec/modbus/framing/framing.ts';
import type { Framing } from '../../../src/sunspec/modbus/framing/framing.ts';
import { maxAdu } from '../../../src/sunspec/modbus/framing/framing.ts';
import { RtuFraming } from '../../../src/sunspec/modbus/framing/rtu.ts';
import { serve } from '../../../src/sunspec/modbus/server/exchange.ts';
import { createModbusContext } from '../../../src/sunspec/modbus/server/server.ts';
import { fragmentFrames, hex } from '../../../test/dnp3/rig/frames.ts';
import { settled } from '../../../test/dnp3/rig/classes.ts';
import { MemoryUnit } from '../../../test/support/modbus-unit.ts';
import { rtu, rtuRead } from '../../../test/support/rtu.ts';
import { nothing, parserTarget } from '../target.ts';
import type { Subject, Target } from '../target.ts';

const pdus = () => {
  const text = readFileSync(new URL('../../../fixtures/wire/modbus-pdu.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { cases: readonly { in: string }[] }).cases.map(({ in: adu }) => Buffer.from(adu, 'hex'));
};

const [pauseMs, gapMs] = [4, 34];

/** Feeds a stream into a framing and answers its requests from registers in memory. */
class ModbusLine implements Subject {
  readonly #unit = new MemoryUnit();
  readonly #create: () => Framing;
  readonly #valid: Buffer;
  readonly #out = Buffer.alloc(maxAdu);
  readonly #failures: unknown[] = [];
  readonly #context = createModbusContext();

  constructor(create: () => Framing, valid: Buffer) {
    this.#create = create;
    this.#valid = valid;
  }

  /** @returns answers */
  #answers(input: Buffer): number {
    const framing = this.#create();
    const service = {
      context: this.#context,
      deviceIndex: undefined,
      units: (address: number) => (address === 1 ? this.#unit : undefined),
    };
    const internalError = (error: unknown) => {
      // the unit in memory fails at one register on purpose
      if (!(error instanceof Error && error.message === 'a fault of ours')) this.#failures.push(error);
    };
    const asker = { peer: 'fuzz', internalError };
    let count = 0;
    const pump = () => {
      while (framing.next() === 'frame') if (serve(framing, service, asker, this.#out, 0) > 0) count += 1;
    };
    framing.push(input, 1000);
    pump();
    for (let silences = 0; framing.awaitedSilenceMs > 0 && silences < 4; silences += 1) {
      framing.silence();
      pump();
    }
    if (framing.heldLength > input.length + maxAdu) throw new Error(`${framing.heldLength} octets are held`);
    return count;
  }

  feed(input: Buffer): void {
    this.#failures.length = 0;
    this.#answers(input);
    const [failure] = this.#failures;
    if (failure !== undefined) throw failure instanceof Error ? failure : new Error('a throw without an error');
  }

  alive(): void {
    if (this.#answers(this.#valid) !== 1) throw new Error('a valid read gets no answer');
  }

  readonly close = nothing;
}

const modbusTcp: Target = {
  name: 'modbus-tcp',
  isText: false,
  samples: pdus,
  open: () => new ModbusLine(() => new MbapFraming(), Buffer.from('000100000006010300640002', 'hex')),
};

const rtuFraming = () => new RtuFraming({ pauseMs, gapMs, isOwn: (address) => address === 1, onUnreadable: nothing });

const modbusRtu: Target = {
  name: 'modbus-rtu',
  isText: false,
  samples: () => pdus().map((adu) => rtu(1, adu.toString('hex', 7))),
  open: () => new ModbusLine(rtuFraming, rtuRead(1, 100, 2)),
};

const dnp3Requests = [
  ...['c0 01 3c 02 06 3c 03 06 3c 04 06 3c 01 06', 'c1 01 1e 01 00 00 20', 'c2 02 50 01 00 07 07 00'],
  ...['c2 02 32 01 07 01 00 68 e5 cf 8b 01', 'c6 07 14 00 06', 'c8 14 3c 02 06 3c 03 06', 'c9 17', 'cc 00'],
  'c3 03 0c 01 28 01 00 11 00 03 01 64 00 00 00 64 00 00 00 00',
  'c5 05 29 01 28 01 00 57 00 f4 01 00 00 00 29 03 17 01 57 00 00 20 41 00',
  'c1 01 1e 00 01 18 02 2c 02 01 02 06 20 00 07 05',
  'cd 01 00 fe 00 00 00',
].map(hex);

const dnp3Link: Target = {
  name: 'dnp3-link',
  isText: false,
  samples: () => dnp3Requests.map((request) => Buffer.concat(fragmentFrames(request, 1, 4))),
  open() {
    const parser = new LinkParser();
    const reassembler = new Reassembler();
    const fragmentsOf = (input: Buffer) =>
      parser.push(input).flatMap(({ data }) => {
        const fragment = reassembler.push(data);
        return fragment === null ? [] : [fragment];
      });
    return {
      feed(input) {
        for (const fragment of fragmentsOf(input)) parseRequest(fragment);
        if (parser.heldOctets > 291) throw new Error(`${parser.heldOctets} octets are held`);
      },
      alive() {
        // the rest of a frame that was cut may swallow the first
        const poll = Buffer.concat(fragmentFrames(hex('c0 01 3c 01 06'), 1, 4));
        const count = Array.from({ length: 20 }, () => fragmentsOf(poll).length).reduce((sum, each) => sum + each, 0);
        if (count === 0) throw new Error('a valid poll is not read');
      },
      close: nothing,
    };
  },
};

const dnp3Application: Target = {
  name: 'dnp3-application',
  isText: false,
  samples: () => dnp3Requests,
  open() {
    const stack = settled();
    const check = (answers: readonly string[]) => {
      for (const answer of answers) {
        const octets = hex(answer);
        if (octets.length < 4 || octets.length > 2048) throw new Error(`an answer of ${octets.length} octets`);
        inWords(octets);
      }
    };
    return {
      feed(input) {
        inWords(input);
        stack.outstation.association(4)?.receive(input, 'unicast');
        stack.clock.pass(20_000);
        check(stack.sent());
      },
      alive() {
        // the first request may be a repetition, or end an answer that waits for a confirm
        const answers = ['c1', 'c2'].flatMap((control) => stack.ask(`${control} 01 3c 01 06`));
        if (answers.length === 0) throw new Error('a valid poll gets no answer');
      },
      close: nothing,
    };
  },
};

const sep = 'urn:ieee:std:2030.5:ns';
const documents = [
  `<Time xmlns="${sep}" href="/tm" pollRate="60"><currentTime>1781000000</currentTime><dstEndTime>0</dstEndTime>` +
    '<dstOffset>0</dstOffset><dstStartTime>0</dstStartTime><quality>7</quality><tzOffset>36000</tzOffset></Time>',
  `<DERControlList xmlns="${sep}" href="/derc" all="1" results="1" subscribable="1"><DERControl href="/derc/1" replyTo="/rsp" ` +
    'responseRequired="03"><mRID>0102030405060708090A0B0C0D0E0F10</mRID><description>limit</description>' +
    '<creationTime>1781000000</creationTime><EventStatus><currentStatus>0</currentStatus><dateTime>1781000000</dateTime>' +
    '<potentiallySuperseded>false</potentiallySuperseded></EventStatus><interval><duration>60</duration>' +
    '<start>1781000060</start></interval><DERControlBase><opModMaxLimW>5000</opModMaxLimW><opModFixedVar><refType>1</refType>' +
    '<value>1000</value></opModFixedVar><rampTms>100</rampTms></DERControlBase></DERControl></DERControlList>',
  `<Notification xmlns="${sep}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><subscribedResource>/derc` +
    '</subscribedResource><Resource xsi:type="DERControlList" all="1" results="0"/><status>0</status>' +
    '<subscriptionURI>/edev/1/sub/1</subscriptionURI></Notification>',
  `<DERCurveList xmlns="${sep}" all="1" results="1"><DERCurve><mRID>0102030405060708090A0B0C0D0E0F11</mRID>` +
    '<creationTime>1781000000</creationTime><CurveData><xvalue>9200</xvalue><yvalue>4400</yvalue></CurveData><CurveData>' +
    '<xvalue>9800</xvalue><yvalue>0</yvalue></CurveData><curveType>11</curveType><xMultiplier>-2</xMultiplier>' +
    '<yMultiplier>-2</yMultiplier><yRefType>1</yRefType></DERCurve></DERCurveList>',
];

const frames = [
  '[2,"1","BootNotification",{"chargePointVendor":"a","chargePointModel":"b"}]',
  '[2,"2","SetChargingProfile",{"connectorId":1,"csChargingProfiles":{"chargingProfileId":1,"stackLevel":0,' +
    '"chargingProfilePurpose":"TxDefaultProfile","chargingProfileKind":"Relative","chargingSchedule":' +
    '{"chargingRateUnit":"A","chargingSchedulePeriod":[{"startPeriod":0,"limit":10.5}]}}}]',
  '[3,"3",{"status":"Accepted","currentTime":"2026-06-21T08:00:00Z","interval":300}]',
  '[4,"4","InternalError","",{}]',
  '[5,"5","FormatViolation","",{}]',
  '[6,"6","NotifyPeriodicEventStream",{"id":1,"pending":0,"data":[]}]',
];
const bodies = [
  '{"voltage_pu": 1.05, "ramp_s": 5}',
  '{"id": "peak-1", "values": {"704.WMaxLimPct": 30, "704.WMaxLimPctEna": "ENABLED"}, "duration_s": 60}',
  '{"points": [{"v_pct": 92, "var_pct": 44}, {"v_pct": 98, "var_pct": 0}]}',
];

export const wireTargets: readonly Target[] = [
  modbusTcp,
  modbusRtu,
  dnp3Link,
  dnp3Application,
  parserTarget(
    'csip-xml',
    () => documents,
    (text) => parseDocument(Buffer.from(text)),
  ),
  parserTarget(
    'ocpp-frame',
    () => frames,
    (text) => parseFrame(text, 'ocpp2.1'),
  ),
  parserTarget(
    'rest-body',
    () => bodies,
    (text) => runWhole(parsingBody(Buffer.from(text))),
  ),
];
