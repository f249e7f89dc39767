import { expect } from 'chai';
import type { Layout } from '../../../../src/sunspec/map/layout.ts';
import { createProxyAdapter } from '../../../../src/sunspec/modbus/proxy/bridge.ts';
import type { ProxyAdapter } from '../../../../src/sunspec/modbus/proxy/bridge.ts';
import { createTestBank, errorOf } from '../../../support/map.ts';

const device = { index: 0, bank: createTestBank({ omit: ['704.PFWAbs.PF', '704.PFWAbs.Ext'] }).bank };

function create(map: unknown): ProxyAdapter {
  return createProxyAdapter({ map, mapLabel: 'test', devices: [device], host: '127.0.0.1', port: 0 });
}

function faultsOf(map: unknown): string[] {
  const error = errorOf(() => {
    create(map);
  });
  expect(error.code).to.equal('CONFIG_INVALID');
  expect(error.message).to.match(/^The proxy map test is not valid, \d+ issues?:$/);
  return error.issues.map(({ name, detail }) => `${name}: ${detail}`);
}

const power = { address: 0, type: 'int32', name: 'power', point: '701.W' };
/** Faults of a map with one register beside a sound one. */
const register = (members: object) =>
  faultsOf({ name: 'm', registers: [power, { address: 10, type: 'uint16', name: 'r', ...members }] });

describe('Proxy: what a map must fulfil', () => {
  it('a sound map is taken', () => {
    const state = { address: 0, type: 'uint16', name: 'state', point: '701.St', absent: 'zero' };
    const last = { address: 65_535, type: 'uint16', name: 'last', constant: 1 };
    for (const map of [
      { name: 'a', registers: [power] },
      { name: 'b', registers: [{ ...state, values: { 0: 'OFF', '0xffff': 'ON' } }] },
      { name: 'c', device: 0, unit_id: 247, registers: [power, { ...power, name: 'again', table: 'input' }, last] },
    ]) {
      expect(create(map).mapName).to.equal(map.name);
    }
  });

  it('the shape is checked, and each fault named by its JSON pointer', () => {
    expect(faultsOf({})).to.deep.equal(['/name: is required', '/registers: is required']);
    expect(faultsOf({ name: 'm', registers: [] })).to.deep.equal(['/registers: must have at least 1 item; given 0']);
    expect(faultsOf({ name: 'm', registers: [{ ...power, address: -1, type: 'int8', colour: 'red' }] })).to.deep.equal([
      '/registers/0/address: must be from 0 to 65535; given -1',
      '/registers/0/type: must be one of uint16, int16, uint32, int32, uint64, int64, float32, float64, ' +
        'bitfield16, bitfield32, string; given "int8"',
      '/registers/0/colour: is not a member of a proxy map',
    ]);
    expect(register({ point: 'W' })).to.deep.equal([
      '/registers/1/point: must name a point, as 701.W or 705.Crv[0].Pt[1].V',
    ]);
    expect(register({ point: '701.St', values: { one: 'ON' } })[0]).to.match(
      /^\/registers\/1\/values\/one: is not a name that a member can have here/,
    );
    expect(register({ point: '701.W', scale: 0 })).to.deep.equal(['/registers/1/scale: must not be 0']);
    expect(faultsOf({ name: 'm', port: 70_000, unit_id: 248, registers: [power] })).to.deep.equal([
      '/port: must be from 1 to 65535; given 70000',
      '/unit_id: must be from 1 to 247; given 248',
    ]);
  });

  it('registers stand in their address space, and nowhere twice', () => {
    const pair = (a: object, b: object) =>
      faultsOf({
        name: 'm',
        registers: [
          { ...power, ...a },
          { ...power, name: 'other', ...b },
        ],
      });
    expect(pair({}, { address: 1 })).to.deep.equal([
      '/registers/1/address: other overlaps power at holding register 1',
    ]);
    expect(pair({ table: 'both' }, { table: 'input' })).to.deep.equal([
      '/registers/1/address: other overlaps power at input register 0',
    ]);
    expect(pair({}, { address: 65_535 })).to.deep.equal([
      '/registers/1/address: other would end at register 65536; the last one is 65535',
    ]);
    expect(pair({}, { address: 2, name: 'power' })).to.deep.equal([
      '/registers/1/name: power is the name of another register too',
    ]);
  });

  it('a register shows one thing, with members that fit it', () => {
    expect(register({})).to.deep.equal([
      '/registers/1: exactly one of point, sum, constant, commands, keeps must be given',
    ]);
    expect(register({ point: '701.W', constant: 3 })[0]).to.equal(
      '/registers/1: exactly one of point, sum, constant, commands, keeps must be given',
    );
    const cases: readonly (readonly [object, string])[] = [
      [{ constant: 3, scale: 2 }, 'scale: only a number of a point or of a sum is scaled, without values and bits'],
      [{ point: '701.St', size: 2 }, 'size: only a string has a size'],
      [{ type: 'string', point: '1.SN' }, 'size: a string needs its size in registers'],
      [
        { constant: 3, values: { 1: 'ON' } },
        'values: only a number that shows a point or keeps what is written has values, and no bits beside them',
      ],
      [
        { type: 'int16', point: '701.Alrm', bits: { 0: 'GROUND_FAULT' } },
        'bits: only an unsigned number of 16 or 32 bits that shows a point has bits',
      ],
      [{ point: '701.W', otherwise: 1 }, 'otherwise: is allowed only with commands, or with values of a point'],
      [{ constant: 3, absent: 'zero' }, 'absent: is allowed only with point or sum'],
      [
        { point: '704.WMaxLimPct', max: 100 },
        'max: only a number that can be written has limits (access rw), without values',
      ],
      [
        { point: '704.WMaxLimPctEna', access: 'rw', values: { 0: 'DISABLED', 1: 'ENABLED' }, min: 0 },
        'min: only a number that can be written has limits (access rw), without values',
      ],
      [
        { point: '704.WMaxLimPct', also: { '704.WMaxLimPctEna': 'ENABLED' } },
        'also: only a point that can be written sets others (access rw)',
      ],
      [{ sum: ['701.W', '701.VA'], access: 'rw' }, 'access: a sum and bits cannot be written'],
      [
        { point: '704.WMaxLimPct', access: 'rw', table: 'input' },
        'table: an input register cannot be written; allowed: holding, both',
      ],
      [{ point: '704.WMaxLimPct', access: 'rw', min: 2, max: 1 }, 'min: is above max'],
      [{ type: 'string', size: 1, constant: 'long' }, 'constant: is longer than 2 octets'],
      [{ type: 'string', size: 1, constant: 5 }, 'constant: must be text in a register of type string'],
      [{ constant: 'text' }, 'constant: must be a number in a register of type uint16'],
      [{ constant: 65_536 }, 'constant: 65536 does not fit uint16 (0 to 65535)'],
      [{ point: '701.W', absent: -1 }, 'absent: -1 does not fit uint16 (0 to 65535)'],
      [
        { point: '701.St', values: { '0x10000': 'ON', 0: 'OFF' } },
        'values/0x10000: 65536 does not fit uint16 (0 to 65535)',
      ],
      [
        { point: '701.St', values: { '0xffff': 'ON', 0: 'OFF' } },
        'values/0xffff: 65535 means that the point does not exist: choose another number, or another absent',
      ],
      [{ point: '701.St', values: { '0x1': 'ON', 1: 'OFF' } }, 'values/0x1: is the same number as 1'],
      [{ point: '701.Alrm', bits: { 16: 'GROUND_FAULT' } }, 'bits/16: uint16 has bits 0 to 15'],
    ];
    for (const [members, fault] of cases)
      expect(register(members), JSON.stringify(members)).to.deep.include(`/registers/1/${fault}`);
  });

  it('a register that keeps what is written has a start value among what may be written, and a constant may ignore writes', () => {
    const cases: readonly (readonly [object, string])[] = [
      [
        { keeps: 1, point: '701.W' },
        '/registers/1: exactly one of point, sum, constant, commands, keeps must be given',
      ],
      [
        { keeps: 1, access: 'r' },
        '/registers/1/access: a register that keeps what is written is rw; a value that never changes is a constant',
      ],
      [{ keeps: 1, table: 'input' }, '/registers/1/table: an input register cannot be written; allowed: holding, both'],
      [
        { keeps: 1, scale: 2 },
        '/registers/1/scale: only a number of a point or of a sum is scaled, without values and bits',
      ],
      [
        { keeps: 1, values: { 1: 'on' }, otherwise: 2 },
        '/registers/1/otherwise: is allowed only with commands, or with values of a point',
      ],
      [{ keeps: 1, absent: 0 }, '/registers/1/absent: is allowed only with point or sum'],
      [
        { keeps: 1, also: { '704.WMaxLimPct': 5 } },
        '/registers/1/also: only a point that can be written sets others (access rw)',
      ],
      [{ keeps: 70_000 }, '/registers/1/keeps: 70000 does not fit uint16 (0 to 65535)'],
      [{ keeps: 1.5 }, '/registers/1/keeps: must be a whole number in a register of type uint16'],
      [{ keeps: 'one' }, '/registers/1/keeps: must be a number in a register of type uint16'],
      [{ type: 'string', size: 1, keeps: 1 }, '/registers/1/keeps: must be text in a register of type string'],
      [{ type: 'string', size: 1, keeps: 'long' }, '/registers/1/keeps: is longer than 2 octets'],
      [
        { type: 'string', size: 1, keeps: 'a', min: 1 },
        '/registers/1/min: only a number that can be written has limits (access rw), without values',
      ],
      [{ keeps: 3, values: { 1: 'on', '0x2': 'off' } }, '/registers/1/keeps: 3 is not one of its values'],
      [{ keeps: 3, max: 2 }, '/registers/1/keeps: 3 is above 2'],
      [{ keeps: 3, watchdog_s: 5 }, '/registers/1/watchdog_s: is allowed only with keeps and lost'],
      [{ keeps: 3, lost: { '704.WSetEna': 'DISABLED' } }, '/registers/1/lost: is allowed only with watchdog_s'],
      [
        { keeps: 3, watchdog_s: 5, lost: { '704.WSetEna': 'NO' } },
        '/registers/1/lost/704.WSetEna: must be one of DISABLED, ENABLED',
      ],
      [
        { constant: 3, write_word_order: 'big' },
        '/registers/1/write_word_order: only a number that can be written has an order of writing',
      ],
      [
        { constant: 3, access: 'rw', table: 'input' },
        '/registers/1/table: an input register cannot be written; allowed: holding, both',
      ],
      [
        { constant: 3, access: 'rw', max: 5 },
        '/registers/1/max: only a number that can be written has limits (access rw), without values',
      ],
    ];
    for (const [members, fault] of cases) expect(register(members), JSON.stringify(members)).to.deep.equal([fault]);
    const sound = [
      { keeps: 0 },
      { type: 'float32', keeps: 1.5, min: 0, max: 2 },
      { keeps: 2, values: { 1: 'on', '0x2': 'off' } },
      { type: 'string', size: 2, keeps: 'text', access: 'rw', table: 'both' },
      { constant: 3, access: 'rw' },
    ];
    for (const members of sound)
      expect(
        create({ name: 'm', registers: [{ address: 10, type: 'uint16', name: 'r', ...members }] }).mapName,
      ).to.equal('m');
  });

  it('points are those of the devices, used as what they are', () => {
    const cases: readonly (readonly [object, string])[] = [
      [{ point: '701.Watt' }, 'point: the device does not have 701.Watt'],
      [{ point: '802.SoC' }, 'point: the device does not have 802.SoC'],
      [{ sum: ['714.Prt[0].DCW', '714.Prt[9].DCW'] }, 'sum/1: the device does not have 714.Prt[9].DCW'],
      [{ point: '701.W', access: 'rw' }, 'point: 701.W is read only'],
      [{ point: '704.PFWAbs.PF', access: 'rw' }, 'point: the device does not have 704.PFWAbs.PF'],
      [{ point: '1.SN' }, 'type: 1.SN is text; allowed: the type string'],
      [{ type: 'string', size: 4, point: '701.W' }, 'type: 701.W is no text; allowed: a type of numbers'],
      [{ point: '701.W', values: { 0: 'ON' } }, 'values: 701.W is no enumeration'],
      [
        { point: '701.St', values: { 0: 'ON', 1: 'STANDBY' }, otherwise: 5 },
        'values/1: STANDBY is not a symbol of 701.St; allowed: OFF, ON',
      ],
      [
        { point: '701.InvSt', values: { 0: 'OFF' } },
        'values: 701.InvSt can also be SLEEPING, STARTING, RUNNING, THROTTLED, SHUTTING_DOWN, FAULT, ' +
          'STANDBY: give these a number, or otherwise',
      ],
      [{ point: '701.St', bits: { 0: 'ON' } }, 'bits: 701.St is no bit field'],
      [{ point: '714.PrtAlrms', bits: { 0: 'FIRE' } }, 'bits/0: FIRE is not a bit of 714.PrtAlrms; allowed: '],
      [
        { type: 'bitfield16', point: '701.Alrm' },
        'type: 701.Alrm has 32 bits; allowed: an unsigned or bitfield type with at least as many, or bits',
      ],
      [
        { type: 'int32', point: '701.Alrm' },
        'type: 701.Alrm has 32 bits; allowed: an unsigned or bitfield type with at least as many, or bits',
      ],
      [{ type: 'uint32', point: '701.Alrm', scale: 2 }, 'scale: 701.Alrm is no quantity'],
      [{ point: '701.St', offset: 1 }, 'offset: 701.St is no quantity'],
      [{ sum: ['701.W', '701.St'] }, 'sum/1: 701.St is no quantity'],
      [
        { point: '704.WMaxLimPct', access: 'rw', also: { '704.WMaxLimPctEna': 'ON' } },
        'also/704.WMaxLimPctEna: must be one of DISABLED, ENABLED',
      ],
      [{ point: '704.WMaxLimPct', access: 'rw', also: { '704.WSet': 'ENABLED' } }, 'also/704.WSet: must be a number'],
      [{ commands: { 1: { '701.W': 0 } } }, 'commands/1/701.W: 701.W is read only'],
      [{ commands: { 1: { '999.X': 0 } } }, 'commands/1/999.X: the device does not have 999.X'],
    ];
    for (const [members, fault] of cases)
      expect(register(members), JSON.stringify(members)).to.deep.equal([`/registers/1/${fault}`]);
  });

  it('text is set to text', () => {
    const devices = [{ index: 0, bank: createTestBank({ simModels: true }).bank }];
    const sources = (word: unknown) => ({
      mapLabel: 'test',
      devices,
      host: '127.0.0.1',
      port: 0,
      map: {
        name: 'm',
        registers: [{ address: 0, type: 'uint16', name: 'source', commands: { 1: { '64414.GridModelSource': word } } }],
      },
    });
    createProxyAdapter(sources('const'));
    expect(errorOf(() => createProxyAdapter(sources(5))).issues).to.deep.equal([
      { name: '/registers/0/commands/1/64414.GridModelSource', detail: 'must be text' },
    ]);
  });

  it('of several devices one must have each point', () => {
    const pv = { index: 0, bank: createTestBank().bank };
    const battery = { index: 1, bank: createTestBank({ storage: true }).bank };
    const map = { name: 'm', registers: [{ ...power, point: '802.W' }] };
    const options = { map, mapLabel: 'test', host: '127.0.0.1', port: 0 };
    createProxyAdapter({ ...options, devices: [pv, battery] });
    expect(errorOf(() => createProxyAdapter({ ...options, devices: [pv, { ...pv, index: 1 }] })).issues).to.deep.equal([
      { name: '/registers/0/point', detail: 'none of the devices has 802.W' },
    ]);
  });

  it('where a point is missing, device types that would do are named', () => {
    const { layout } = createTestBank({ storage: true }).bank;
    const deviceTypesWhere = (passes: (candidate: Layout) => boolean) => (passes(layout) ? ['Battery'] : []);
    const messageOf = (point: string) =>
      errorOf(() =>
        createProxyAdapter({
          map: { name: 'm', registers: [{ ...power, point }] },
          mapLabel: 'test',
          devices: [device],
          host: '127.0.0.1',
          port: 0,
          deviceTypesWhere,
        }),
      ).message;
    expect(messageOf('802.W')).to.equal(
      'The proxy map test is not valid, 1 issue (device types with all of its points: Battery):',
    );
    expect(messageOf('802.Watt')).to.equal('The proxy map test is not valid, 1 issue:');
  });

  it('the devices are there, and have a unit id each', () => {
    expect(faultsOf({ name: 'm', device: 3, registers: [power] })).to.deep.equal([
      '/device: there is no device 3; devices: 0',
    ]);
    expect(faultsOf({ name: 'm', unit_id: 3, registers: [power] })).to.deep.equal([
      '/unit_id: is allowed only with device: of all devices, each has unit id 1 + index',
    ]);
    const far = { ...device, index: 247 };
    const options = { mapLabel: 'test', devices: [far], host: '127.0.0.1', port: 0 };
    expect(
      errorOf(() => createProxyAdapter({ ...options, map: { name: 'm', registers: [power] } })).issues[0]?.detail,
    ).to.equal('device 247 would have unit id 248; the highest is 247: name the device that is served');
    const several = { ...options, devices: [device, ...[247, 248, 299].map((index) => ({ ...device, index }))] };
    expect(
      errorOf(() => createProxyAdapter({ ...several, map: { name: 'm', registers: [power] } })).issues.map(
        ({ detail }) => detail,
      ),
    ).to.deep.equal([
      'devices 247 to 299 would have unit ids from 248 on; the highest is 247: name the device that is served',
    ]);
    createProxyAdapter({ ...options, map: { name: 'm', device: 247, registers: [power] } });
  });
});
