import { expect } from 'chai';
import fc from 'fast-check';
import { gridFunctionNames, gridFunctions } from '../../../src/api/grid-support/functions.ts';
import type { GridFunctionName } from '../../../src/api/grid-support/functions.ts';
import { isWritable } from '../../../src/api/grid-support/members.ts';
import type { GridFunction, Member, Members } from '../../../src/api/grid-support/members.ts';
import { functionReply, writeFunctions } from '../../../src/api/grid-support/registers.ts';
import { functionBodySchemas, functionSchemas } from '../../../src/api/grid-support/schemas.ts';
import { numberCodec, removeScale } from '../../../src/sunspec/map/codec.ts';
import { plainPath } from '../../../src/sunspec/map/layout.ts';
import type { PointSlot } from '../../../src/sunspec/map/layout.ts';
import { inUseRanges, ranges } from '../../../src/sunspec/map/rules.ts';
import type { Bound } from '../../../src/sunspec/map/rules.ts';
import type { Json } from '../../support/http.ts';
import { byRest, createTestBank, mapLayout, named, slotOf } from '../../support/map.ts';
import { holds } from '../../support/property.ts';

const layout = mapLayout();

/** Members that stand for one point each, those of curves and parts included. */
function pointsOf(model: number, members: Members): { model: number; path: string; member: Member }[] {
  return Object.values(members).flatMap((member) => {
    switch (member.kind) {
      case 'object':
        return pointsOf(model, member.members);
      case 'part':
        return pointsOf(member.part.model, member.part.members);
      case 'curve':
        return [`${member.at}.ActPt`, ...member.axes.map(({ point }) => `${member.at}.Pt[0].${point}`)].map((path) => ({
          model,
          path,
          member,
        }));
      default:
        return [{ model, path: member.point, member }];
    }
  });
}

const isSet1 = (path: string) => /^(Crv|Ctl)\[0\]/.test(path);

describe('grid support: the tables', () => {
  for (const name of gridFunctionNames) {
    const spec: GridFunction = gridFunctions[name];

    it(`${name}: every member is a point of that access, every symbol one of its own`, () => {
      for (const { model, path, member } of [
        ...pointsOf(spec.model, spec.members),
        { model: spec.model, path: spec.enable, member: { kind: 'flag', point: '' } as const },
      ]) {
        const slot = slotOf(layout, model, path);
        const canWrite = slot.writable || (isSet1(path) && slot.def.access === 'RW');
        if (isWritable(member)) expect(canWrite, path).to.equal(true);
        if (member.kind === 'symbol')
          expect(
            member.symbols.map((symbol) => symbol.toUpperCase()),
            path,
          ).to.deep.equal(Object.keys(slot.def.symbols!));
        if (member.kind === 'flag' && spec.always !== true)
          expect(slot.def.symbols, path).to.have.all.keys('DISABLED', 'ENABLED');
      }
    });

    it(`${name}: no setting in force of its model is left out`, () => {
      if (spec.model < 705) return;
      const shown = new Set(pointsOf(spec.model, spec.members).map(({ path }) => path));
      const left = layout.slots.filter(
        (slot) =>
          slot.modelId === spec.model &&
          slot.def.access === 'RW' &&
          (isSet1(slot.path) || slot.writable) &&
          !/^(Crv|Ctl)\[[12]\]/.test(slot.path) &&
          !/\.Pt\[[1-9]\]/.test(slot.path) &&
          !shown.has(slot.path),
      );
      expect(
        left.map(({ path }) => path).filter((path) => !['Ena', 'RvrtTms', 'AdptCrvReq', 'AdptCtlReq'].includes(path)),
      ).to.deep.equal([]);
    });
  }

  it('the direct controls and entering service leave nothing out', () => {
    const shown = new Set(
      gridFunctionNames.flatMap((name) => {
        const spec: GridFunction = gridFunctions[name];
        const parts = [
          spec,
          ...Object.values(spec.members).flatMap((member) => (member.kind === 'part' ? [member.part] : [])),
        ];
        return [
          ...pointsOf(spec.model, spec.members),
          ...parts.flatMap(({ model, enable, timer }) =>
            [enable, ...(timer === undefined ? [] : [timer])].map((path) => ({ model, path })),
          ),
        ].map(({ model, path }) => `${model}.${path}`);
      }),
    );
    const left = layout.slots.filter(
      ({ modelId, path, writable }) =>
        writable && (modelId === 703 || modelId === 704) && !shown.has(`${modelId}.${path}`),
    );
    expect(left.map(({ path }) => path)).to.deep.equal([]);
  });
});

/** Values on the grid of a point's register, within its range at the start. */
function registerValue(slot: PointSlot, kilo: boolean): fc.Arbitrary<number> {
  const { bank } = createTestBank();
  const codec = numberCodec(slot.def.type)!;
  const key = `${slot.modelId}.${plainPath(slot.path)}`;
  const rule = inUseRanges[key] ?? ranges[key] ?? {};
  const { min, max } = typeof rule === 'function' ? rule((name) => bank.value(named(layout, name))) : rule;
  const bound = (given: Bound | undefined, other: number) => {
    if (given === undefined) return other;
    const value = typeof given === 'number' ? given : Number(bank.value(named(layout, given.replace('-', ''))));
    return removeScale(typeof given === 'string' && given.startsWith('-') ? -value : value, slot.sf);
  };
  const decoded = (raw: number) => (slot.sf < 0 ? raw / 10 ** -slot.sf : raw * 10 ** slot.sf);
  return fc
    .integer({ min: bound(min, codec.min), max: bound(max, codec.max) })
    .map((raw) => (raw === 0 ? 0 : decoded(raw) / (kilo ? 1000 : 1)));
}

function memberValue(model: number, member: Member): fc.Arbitrary<Json> {
  switch (member.kind) {
    case 'number':
      return registerValue(slotOf(layout, model, member.point), member.kilo === true);
    case 'symbol':
      return fc.constantFrom(...member.symbols);
    case 'flag':
      return fc.boolean();
    case 'object':
      return bodyOf(model, member.members);
    case 'part':
      return functionBody(member.part);
    case 'curve': {
      const [x, y] = member.axes;
      const value = (point: string) => registerValue(slotOf(layout, model, `${member.at}.Pt[0].${point}`), false);
      const point = fc.record({ [x.name]: value(x.point), [y.name]: value(y.point) });
      return fc
        .array(point, { minLength: member.minPoints, maxLength: 10 })
        .map((points) => points.sort((a, b) => a[x.name]! - b[x.name]!));
    }
  }
}

function bodyOf(model: number, members: Members, common: Record<string, fc.Arbitrary<Json>> = {}): fc.Arbitrary<Json> {
  const own = Object.entries(members)
    .filter(([, member]) => isWritable(member))
    .map(([name, member]) => [name, memberValue(model, member)] as const);
  return fc.record({ ...common, ...Object.fromEntries(own) }, { requiredKeys: [] });
}

function functionBody(spec: GridFunction): fc.Arbitrary<Json> {
  return bodyOf(spec.model, spec.members, {
    ...(spec.always !== true && { enabled: fc.boolean() }),
    ...(spec.timer !== undefined && { reversion_time_s: fc.integer({ min: 0, max: 0xffff_fffe }) }),
  });
}

/** Members that may contradict others: short ones of pf, and values in the unit that the mode does not name. */
function withoutContradictions(name: GridFunctionName, body: Json): Json {
  const { units }: GridFunction = gridFunctions[name];
  if (units !== undefined) {
    const others = units.units.filter(({ modes, now }) =>
      body.mode === undefined ? now !== 'setpoint_kw' && now !== 'var_kvar' : !modes.includes(body.mode),
    );
    const left = others.flatMap(({ now, afterReversion }) => [now, afterReversion]);
    // a reversion value alone does not count in a function that is on in the other unit
    if (body.mode === undefined) left.push(...units.units.map(({ afterReversion }) => afterReversion));
    return Object.fromEntries(Object.entries(body).filter(([key]) => !left.includes(key)));
  }
  if (name !== 'pf' || body.inject === undefined) return body;
  return { inject: body.inject, ...(body.absorb !== undefined && { absorb: body.absorb }) };
}

function expectEcho(reply: Json, body: Json, at: string): void {
  for (const [key, value] of Object.entries<Json>(body)) {
    if (Array.isArray(value) || typeof value !== 'object') expect(reply[key], `${at}.${key}`).to.deep.equal(value);
    else expectEcho(reply[key], value, `${at}.${key}`);
  }
}

describe('grid support: any valid request comes back as it was', () => {
  for (const name of gridFunctionNames) {
    it(name, () => {
      const spec: GridFunction = gridFunctions[name];
      const schema = functionBodySchemas[name]();
      holds(
        `${name} comes back`,
        functionBody(spec),
        (any) => {
          const test = createTestBank();
          const body = withoutContradictions(name, any);
          expect(schema.safeParse(body).error, JSON.stringify(body)).to.equal(undefined);
          const stored = test.layout.slots
            .filter(({ path }) => /^(Crv|Ctl)\[[12]\]/.test(path))
            .map((slot) => test.bank.value(slot));
          writeFunctions(test.bank, byRest, [{ spec, name, pointer: '', body }]);
          const reply = functionReply(test.bank, spec, (at) => at / 1000);
          expectEcho(reply, body, name);
          expect(functionSchemas[name]().safeParse(reply).error).to.equal(undefined);
          expect(JSON.parse(JSON.stringify(reply))).to.deep.equal(reply);
          expect(test.changes.length).to.be.at.most(1);
          expect(
            test.layout.slots
              .filter(({ path }) => /^(Crv|Ctl)\[[12]\]/.test(path))
              .map((slot) => test.bank.value(slot)),
          ).to.deep.equal(stored);
        },
        { runs: 40 },
      );
    });
  }
});
