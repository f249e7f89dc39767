/** docs/protocols/ocpp-2.md against the code: messages, variables, points of transactions, modes, DER controls. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { linkedFile } from '../support/repository.ts';
import { silentLogger } from '../../src/core/log/log.ts';
import { createRandom } from '../../src/core/random.ts';
import { noDisturber } from '../../src/ocpp/rpc/model.ts';
import { payloadChecks } from '../../src/ocpp/rpc/schemas.ts';
import { actionsOf, directions, unsupported } from '../../src/ocpp/v201/stack.ts';
import { assembleParts } from '../../src/ocpp/v201/assembly.ts';
import { bodiesOf, isRefusal, memberOf } from '../../src/ocpp/v201/der-controls/model.ts';
import { derTargets, translate } from '../../src/ocpp/v201/der-controls/translate.ts';
import { mergeHandlers } from '../../src/ocpp/station/stack.ts';
import { suppliedMeasurands } from '../../src/ocpp/v201/meter-values.ts';
import { txPoints } from '../../src/ocpp/v201/transactions/reasons.ts';
import { modePowers, modesOf, refusedModes } from '../../src/ocpp/v201/charging/rules.ts';
import type { VariableFacts, VariableRow } from '../../src/ocpp/v201/variables/model.ts';
import { variableRows } from '../../src/ocpp/v201/variables/table.ts';
import { rig } from './v16/fakes.ts';
import { request, stationFacts, testedTypes } from './v201/der/rig.ts';
import type { TestedType } from './v201/der/rig.ts';

const docs = new URL('../../docs/protocols/', import.meta.url);
const text = readFileSync(new URL('ocpp-2.md', docs), 'utf8');

/** The text below a heading of any level, up to the next one. */
const section = (heading: string) =>
  new RegExp(`\\n#+ ${heading}\\n([^]*?)\\n#`).exec(text)?.[1] ?? expect.fail(`no section ${heading}`);

/** Cells of the rows of the only table of a section, without head and rule. */
const rowsOf = (heading: string): readonly (readonly string[])[] =>
  section(heading)
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .map((line) => line.replace(/^\| *| *\|$/g, '').split(/ *\| */));

const plain = (cell = '') => cell.replaceAll('`', '');
const listOf = (cell = '') => cell.split(', ').map((each) => plain(each));

/** A station of 2.1 with doubles of everything around it. */
function station() {
  const { device, line, wall, timers, store, clock, connection, limits, releases, find } = rig();
  const nothing = () => undefined;
  const access = { url: 'ws://central.test', guarded: false, securityProfile: 0, password: null } as const;
  const at = assembleParts('ocpp2.1', {
    id: 'CS-1',
    device: device.port,
    clock,
    clockSet: nothing,
    wall,
    line,
    connection,
    finding: find,
    log: silentLogger,
    later: timers.later,
    random: createRandom(1, 'docs'),
    store: (name) => store.slot(name),
    network: {
      access,
      settings: access,
      slot: null,
      password: null,
      hasConnected: false,
      setAccess: nothing,
      takeAddress: () => false,
      setBackOff: nothing,
      setMessageTimeout: nothing,
      setWildcards: nothing,
    },
    limits,
    releases,
    certificates: { rootCert: null, ownCert: null },
    readLog: () => [],
    disturber: noDisturber,
    autoAuthorize: false,
    ready: () => true,
  });
  for (const part of at.all) part.stop?.();
  return at;
}

const rooms = new URL('../../src/ocpp/', import.meta.url);

/** Sources of a station of 2.x but for the tables of all actions. */
const sources = readdirSync(rooms, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !/^v16|^rpc|v201.(messages|stack)\.ts$/.test(name))
  .map((name) => readFileSync(new URL(name, rooms), 'utf8'));

/** A test and the files of its folder that it imports. */
function testText(path: URL): string {
  const own = readFileSync(path, 'utf8');
  const beside = [...own.matchAll(/from '(\.\/[^']+)'/g)].map(([, name = '']) => new URL(name, path));
  return [own, ...beside.map((each) => readFileSync(each, 'utf8'))].join('\n');
}

/** What 2.1 sends and never gets an answer to; it is no action of a call. */
const unanswered = 'NotifyPeriodicEventStream';

describe('docs/protocols/ocpp-2.md: messages', () => {
  const rows = rowsOf('Messages').map(([message = '', from, versions, status, what = '', test = '']) => {
    return { message, from, versions, status, what, test };
  });
  const named = (status: string) => rows.filter((row) => row.status === status).map(({ message }) => message);
  const words = { station: 'station', central: 'central', both: 'both' };
  const actions201 = new Set<string>(actionsOf('ocpp2.0.1'));

  it('has every action with its direction and versions', () => {
    const wanted = Object.entries(directions).map(([action, direction]) => [
      ...[action, words[direction], actions201.has(action) ? 'both' : '2.1'],
    ]);
    const sorted = [...wanted, [unanswered, 'station', '2.1']].sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
    expect(rows.map(({ message, from, versions }) => [message, from, versions])).to.deep.equal(sorted);
    expect([actions201.size, actionsOf('ocpp2.1').length]).to.deep.equal([64, 90]);
    expect(text).to.contain('64 of 2.0.1').and.to.contain('91 of 2.1');
  });

  it('names the calls that are refused, and those that the station answers', () => {
    expect(named('NotSupported')).to.deep.equal(Object.keys(unsupported).sort());
    const answered = Object.keys(mergeHandlers(station().all)).sort();
    const carriedOut = rows.filter(({ status, from }) => status === 'yes' && from !== 'station');
    expect(carriedOut.map(({ message }) => message)).to.deep.equal(answered);
  });

  it('names the calls that the station sends, and those that it never does', () => {
    const isNamed = (message: string) => sources.some((source) => source.includes(`'${message}'`));
    for (const message of named('never sent')) expect(isNamed(message), message).to.equal(false);
    for (const { message } of rows.filter(({ status, from }) => status === 'yes' && from === 'station'))
      expect(isNamed(message), message).to.equal(true);
    expect(rows.length).to.equal(named('yes').length + named('NotSupported').length + named('never sent').length);
  });

  it('leads from each that is carried out to a test that has it', () => {
    for (const { message, status, what, test } of rows) {
      expect(what, message).to.not.equal('');
      const paths = [...test.matchAll(/\]\(([^)]+)\)/g)].map(([, path = '']) => path);
      expect(paths.length > 0, message).to.equal(status === 'yes');
      for (const path of paths)
        expect(testText(linkedFile(path)).includes(message), `${message} in ${path}`).to.equal(true);
    }
  });

  it('has what TriggerMessage can ask for', () => {
    const able = station().all.flatMap(({ triggers }) => Object.keys(triggers ?? {}));
    const row = rows.find(({ message }) => message === 'TriggerMessage');
    for (const message of able) expect(row?.what, message).to.contain(message);
  });

  it('the call of the example fits its schema', () => {
    const [, json = '{}'] = /```json\n([^]*?)```/.exec(text) ?? [];
    payloadChecks.prepare('ocpp2.1');
    expect(payloadChecks.check('ocpp2.1', 'SetDERControl', 'request', JSON.parse(json))).to.equal(null);
  });
});

/** For limits that depend on the version. */
const facts: VariableFacts = {
  version: 'ocpp2.1',
  nameplate: { vendor: 'V', model: 'M', serialNumber: 'S', firmwareVersion: '1' },
  evseIds: [1],
  ratings: [],
  stationRating: { type: 'dc', phases: 1 } as VariableFacts['stationRating'],
  securityProfile: 0,
};

/** Range, length or members of a variable, as the table shows them. */
function allowed({ type, min, max, unit, values }: VariableRow): string {
  if (type === 'boolean') return '';
  if (values !== undefined) return typeof values === 'function' ? 'measurands' : values.join(', ');
  const limit = typeof max === 'function' ? max(facts, {}) : max;
  const range = min === undefined ? `up to ${limit}` : min === limit ? `${min}` : `${min} to ${limit}`;
  return [range, type === 'string' ? 'characters' : unit === 'Percent' ? '%' : unit].filter(Boolean).join(' ');
}

const initialOf = ({ initial }: VariableRow) =>
  typeof initial === 'string' ? initial.replaceAll(',', ', ') : 'by station';

describe('docs/protocols/ocpp-2.md: device model', () => {
  const settable = variableRows.filter(({ mutability }) => mutability !== 'ReadOnly');

  it('has every variable that can be set, and nothing else', () => {
    const each = settable.map((row) => [
      `${row.component.replace(/^(NetworkConfiguration)\[\d\]/, '$1[slot]')}.${row.variable}`,
      `${row.since === undefined ? 'both' : '2.1'}${row.tier === 'evse' ? ', EVSE' : ''}`,
      initialOf(row),
      `${allowed(row)}${row.reboot ? '; reboot' : ''}`,
    ]);
    // the slots of network profiles have the same ones
    const wanted = [...new Map(each.map((cells) => [cells[0], cells])).values()];
    const rows = rowsOf('Variables that can be set');
    expect(rows.map((cells) => cells.slice(0, 4).map(plain))).to.deep.equal(wanted);
    for (const [variable, , , , effect = ''] of rows) expect(effect, variable).to.not.equal('');
  });

  it('has every component', () => {
    const bare = (component: string) => component.replace(/\[.*/, '');
    const components = new Set(variableRows.map(({ component }) => bare(component)));
    const rows = rowsOf('Device model');
    expect(rows.flatMap(([names]) => listOf(names)).sort()).to.deep.equal([...components].sort());
  });

  it('has every measurand', () => {
    const [common, added] = rowsOf('Meter values').map(([, measurands]) => listOf(measurands));
    expect(common).to.deep.equal(suppliedMeasurands('ocpp2.0.1'));
    expect([...(common ?? []), ...(added ?? [])]).to.deep.equal(suppliedMeasurands('ocpp2.1'));
  });
});

describe('docs/protocols/ocpp-2.md: transactions and power', () => {
  it('has the points at which transactions start and stop', () => {
    expect(rowsOf('Transactions').map(([point]) => point)).to.deep.equal([...txPoints]);
  });

  it('has every operation mode with its powers, or why it is refused', () => {
    const powers = ['limit', 'dischargeLimit', 'setpoint'] as const;
    const carriedOut = modesOf(true).map((mode) => {
      const { required, optional } = modePowers[mode];
      return [
        mode,
        ...powers.map((each) => (required.includes(each) ? 'required' : optional.includes(each) ? 'optional' : 'no')),
      ];
    });
    const refused = Object.entries(refusedModes).map(([mode, why]) => [mode, `refused: ${why}`]);
    const rows = rowsOf('Bidirectional power');
    expect(rows.slice(0, carriedOut.length).map((cells) => cells.slice(0, 4))).to.deep.equal(carriedOut);
    expect(rows.slice(carriedOut.length).map(([mode, , , , what]) => [mode, what])).to.deep.equal(refused);
  });
});

/** A station with every function and point. */
const derFacts = stationFacts({ number: (_, path) => (path === 'NPt' ? 10 : 400) });

/** Members that the samples lack and that have a point of their own. */
const more: Readonly<Partial<Record<TestedType, Readonly<Record<string, unknown>>>>> = {
  EnterService: { randomDelay: 5, rampRate: 60 },
  VoltVar: { reactivePowerParams: { vRef: 100, autonomousVRefEnable: true, autonomousVRefTimeConstant: 300 } },
};

/** Points of a control: `705 Ena`, `705 Crv.Pt.V`. */
function pointsOf(type: TestedType): readonly string[] {
  const given = request('C', type);
  const member = memberOf[type];
  const whole = { ...given, [member]: { ...given[member], ...more[type] } };
  const [body] = bodiesOf(whole);
  const result = body && translate(type, body, derFacts);
  if (!result || isRefusal(result)) return expect.fail(`${type} is refused`);
  const names = result.points.map(({ model, path }) => `${model} ${path.replaceAll(/\[\d+\]/g, '')}`);
  return [...new Set(names), ...(result.slopeWPctPerS === undefined ? [] : ['slope'])].sort();
}

describe('docs/protocols/ocpp-2.md: DER control', () => {
  const rows = rowsOf('Control types');

  it('has every type with its member', () => {
    const isTarget = (type: string) => Object.hasOwn(derTargets, type);
    expect(rows.map(([type, member]) => [type, plain(member)]).sort()).to.deep.equal(Object.entries(memberOf).sort());
    expect(
      rows
        .filter(([, , points]) => points !== 'NotSupported')
        .map(([type]) => type)
        .sort(),
    ).to.deep.equal(Object.keys(memberOf).filter(isTarget).sort());
  });

  it('has the points that each writes', () => {
    for (const type of testedTypes) {
      const [, , cell = ''] = rows.find(([name]) => name === type) ?? [];
      const named = cell.split('; ').flatMap((part) => {
        const [, model, names = part] = /^(\d+): (.*)$/.exec(part) ?? [];
        return names.split(', ').map((name) => (model === undefined ? name : `${model} ${name}`));
      });
      expect(named.sort(), type).to.deep.equal(pointsOf(type));
    }
  });
});
