import { expect } from 'chai';
import { compareJson, differenceInWords, compareXml } from '../../src/recorder/replay/document-compare.ts';
import type { JsonRules } from '../../src/recorder/replay/document-compare.ts';
import { scriptOf, ReplayedStation } from '../../src/recorder/replay/ocpp-station.ts';
import { defaultReplayOptions } from '../../src/recorder/replay/options.ts';
import type { RecordedMessage } from '../../src/recorder/replay/recording.ts';
import { Findings } from '../../src/recorder/replay/report.ts';

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

describe('replay of servers', () => {
  describe('documents of JSON', () => {
    const rules = (more: Partial<JsonRules> = {}): JsonRules => ({
      measurementTolerance: 'any',
      ignore: [],
      ids: new Map(),
      moves: (pointer) => pointer.endsWith('/meter'),
      ...more,
    });
    const found = (was: unknown, is: unknown, more?: Partial<JsonRules>) =>
      compareJson(was, is, rules(more)).differences.map(differenceInWords);

    it('are the same with other times and made-up ids, as long as an id stands for one', () => {
      const was = { at: '2026-01-01T00:00:00Z', tx: uuid(1), again: uuid(1), list: [1, { a: null }] };
      const is = { at: '2027-01-01T00:00:00.5Z', tx: uuid(7), again: uuid(7), list: [1, { a: null }] };
      expect(found(was, is)).to.deep.equal([]);
      expect(found(was, { ...is, again: uuid(8) })).to.have.length(1);
    });

    it('differ by the pointer', () => {
      expect(found({ a: [1, 2], b: 'x' }, { a: [1, 3], c: 'x' })).to.deep.equal([
        '/a/1 was 2, is 3',
        '/b was "x", is missing',
        '/c was missing, is "x"',
      ]);
      expect(found({ a: 1 }, { a: 2 }, { ignore: ['a'] })).to.deep.equal([]);
    });

    it('may differ in measurements', () => {
      const [was, is] = [{ meter: '100' }, { meter: '104' }];
      expect(found(was, is)).to.deep.equal([]);
      expect(found(was, is, { measurementTolerance: 5 })).to.deep.equal([]);
      expect(found(was, is, { measurementTolerance: 3 })).to.have.length(1);
      expect(found(was, is, { measurementTolerance: 'exact' })).to.have.length(1);
    });

    it('may differ in measurements by their tolerance, and no more', () => {
      expect(
        ['95', '105'].map((meter) => found({ meter: '100' }, { meter }, { measurementTolerance: 5 }).length),
      ).to.deep.equal([0, 0]);
      expect(
        ['94.9', '105.1'].map((meter) => found({ meter: '100' }, { meter }, { measurementTolerance: 5 }).length),
      ).to.deep.equal([1, 1]);
    });
  });

  it('documents of XML differ by the path, whatever prefix, times and made-up ids they have', () => {
    const rules = { measurementTolerance: 'any' as const, ignore: [], ids: new Map<string, string>() };
    const differences = (was: string, is: string) =>
      compareXml(Buffer.from(was), Buffer.from(is), rules).differences.map(differenceInWords);
    const document = (id: string, at: number, status: number) =>
      `<?xml version="1.0"?><DERControlResponse xmlns="urn:x" href="/a"><createdDateTime>${at}</createdDateTime>` +
      `<status>${status}</status><subject>${id.repeat(32)}</subject><x/><x/></DERControlResponse>`;
    expect(differences(document('a', 1, 2), document('b', 9, 2).replaceAll('<x', '<n:x'))).to.deep.equal([]);
    expect(differences(document('a', 1, 2), document('b', 9, 3))).to.deep.equal([
      '/DERControlResponse/status was "2", is "3"',
    ]);
    // the start of the program, which a second later is another one
    const information = (startS: number, swVer: string) =>
      `<DeviceInformation><mfDate>${startS}</mfDate><swActTime>${startS}</swActTime><swVer>${swVer}</swVer></DeviceInformation>`;
    expect(differences(information(77, '1'), information(78, '1'))).to.deep.equal([]);
    expect(differences(information(77, '1'), information(78, '2'))).to.deep.equal([
      '/DeviceInformation/swVer was "1", is "2"',
    ]);
  });

  it('documents of XML may differ in the measurements of the DER alone', () => {
    const rules = { measurementTolerance: 'any', ignore: [], ids: new Map<string, string>() } as const;
    const differences = (members: (value: number) => string) => {
      const document = (value: number) => Buffer.from(`<DERAvailability>${members(value)}</DERAvailability>`);
      return compareXml(document(7), document(8), rules).differences.map(differenceInWords);
    };
    for (const name of ['availabilityDuration', 'maxChargeDuration', 'reserveChargePercent', 'reservePercent'])
      expect(
        differences((value) => `<${name}>${value}</${name}>`),
        name,
      ).to.deep.equal([]);
    const power = (value: number) =>
      `<statWAvail><multiplier>${value}</multiplier><value>${value}</value></statWAvail>`;
    expect(differences(power)).to.deep.equal(['/DERAvailability/statWAvail/multiplier was "7", is "8"']);
  });

  describe('a central system', () => {
    let id = 0;
    const message = (direction: 'in' | 'out', frame: readonly unknown[]): RecordedMessage => ({
      wallMs: 0,
      simS: 0,
      protocol: 'ocpp',
      key: 'CP',
      peer: '',
      deviceIndex: 0,
      kind: 'call',
      cut: false,
      id: (id += 1),
      direction,
      raw: Buffer.from(JSON.stringify(frame)),
      details: {},
    });
    const recorded = [
      message('out', [2, '1', 'BootNotification', { model: 'A' }]),
      message('in', [3, '1', { status: 'Accepted', interval: 60 }]),
      message('out', [2, '2', 'Heartbeat', {}]),
      message('in', [3, '2', { currentTime: 'x' }]),
      message('in', [2, 'c1', 'Reset', { type: 'Soft' }]),
      message('out', [3, 'c1', { status: 'Accepted' }]),
      message('in', [2, 'c2', 'ChangeConfiguration', { value: '(hidden)' }]),
      message('out', [3, 'c2', { status: 'Accepted' }]),
    ];

    function played(...frames: readonly unknown[][]) {
      const findings = new Findings();
      const sent: unknown[] = [];
      const station = new ReplayedStation(scriptOf('CP', recorded), defaultReplayOptions, findings);
      station.connect((text) => sent.push(JSON.parse(text)));
      for (const frame of frames) station.hear(JSON.stringify(frame));
      return { sent, station, findings };
    }
    const boot = [2, 'x', 'BootNotification', { model: 'A' }];

    it('answers as it did, and calls when the station has said what came before', () => {
      const { sent, station, findings } = played(boot, [3, 'replay-1', { status: 'Accepted' }]);
      expect(sent).to.deep.equal([
        [3, 'x', { status: 'Accepted', interval: 60 }],
        [2, 'replay-1', 'Reset', { type: 'Soft' }],
      ]);
      expect(station.done).to.equal(true);
      expect(findings.differences).to.deep.equal([]);
      expect(findings.notes).to.deep.equal(['left out: 1 call to CP whose secrets the recording does not have']);
    });

    it('tells of payloads, answers and calls that differ', () => {
      const { sent, findings } = played(
        [2, 'x', 'BootNotification', { model: 'B' }],
        [2, 'y', 'DataTransfer', {}],
        [4, 'replay-1', 'NotSupported', '', {}],
      );
      expect(sent[2]).to.deep.equal([4, 'y', 'NotImplemented', 'DataTransfer is not in the recording', {}]);
      expect(findings.differences).to.deep.equal([
        'station CP, call 1 of the station (BootNotification): /model was "A", is "B"',
        'station CP: a further call DataTransfer, which was not recorded',
        'station CP, call 1 of the central system (Reset): was answered with a result, is answered with the error NotSupported',
      ]);
    });

    it('goes on without what does not come', () => {
      const { sent, station, findings } = played();
      expect(station.skip()).to.equal(true);
      expect(sent).to.deep.equal([[2, 'replay-1', 'Reset', { type: 'Soft' }]]);
      expect(station.skip()).to.equal(false);
      expect(findings.differences).to.deep.equal([
        'station CP, call 1 of the station (BootNotification): is missing',
        'station CP, call 1 of the central system (Reset): was answered, is not answered',
      ]);
    });
  });
});
