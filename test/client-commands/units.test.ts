import { expect } from 'chai';
import { addressOf, pairsOf, secondsOf, UsageError } from '../../src/client-commands/call.ts';
import { commonNames, parameterOf } from '../../src/client-commands/faults.ts';
import { ageText } from '../../src/client-commands/instance.ts';
import { isColoured, table } from '../../src/client-commands/output.ts';
import { pointName, pointsByModel, valueText } from '../../src/client-commands/points.ts';
import { codeOf, linesOf } from '../../src/client-commands/refusal.ts';
import { conditionOf, passes } from '../../src/client-commands/waiting.ts';
import { exitCodes } from '../../src/core/exit-codes.ts';
import { reservedMembers } from '../../src/fault-kinds/request.ts';
import { DerbenchError } from '../../src/library/error.ts';

describe('words of client commands', () => {
  it('pairs have a name and a value, each name once', () => {
    expect([...pairsOf(['a=1', 'b=x=y'])]).to.deep.equal([
      ['a', '1'],
      ['b', 'x=y'],
    ]);
    for (const words of [['a'], ['=1'], ['a='], ['a=1', 'a=2']])
      expect(() => pairsOf(words), words.join()).to.throw(UsageError);
  });

  it('points are a model and a name, grouped by model in their order', () => {
    expect(pointName('705:2.Crv[0].Pt[1].V')).to.deep.equal({ model: '705:2', point: 'Crv[0].Pt[1].V' });
    for (const word of ['W', '701', '701.', 'x.W']) expect(() => pointName(word), word).to.throw(UsageError);
    expect([...pointsByModel(['701.W', '702.WMax', '701.Var'])]).to.deep.equal([
      ['701', ['W', 'Var']],
      ['702', ['WMax']],
    ]);
  });

  it('a time may have its unit, and is not negative', () => {
    const of = (text: string) => secondsOf({ words: [], options: new Map([['--for', [text]]]) });
    expect([of('30'), of('30s'), of('0.5'), of('5min'), of('1.5h')]).to.deep.equal([30, 30, 0.5, 300, 5400]);
    for (const text of ['-1', 'x', '1m', 's', '-5min']) expect(() => of(text), text).to.throw(UsageError);
  });

  it('an address may lack its scheme', () => {
    for (const [text, url] of [
      ['localhost:8111', 'http://localhost:8111'],
      ['10.0.0.5', 'http://10.0.0.5'],
      ['[::1]:8111/', 'http://[::1]:8111'],
      ['https://lab.example/sim/', 'https://lab.example/sim'],
      ['ftp://lab.example', 'ftp://lab.example'],
    ] as const)
      expect(addressOf(text), text).to.equal(url);
  });

  it('a condition has a name, an operator and a value, in one word or several', () => {
    const condition = { name: '701.W', operator: '<=', bound: 5000 };
    for (const words of [['701.W', '<=', '5000'], ['701.W <= 5000'], ['701.W<=5000']])
      expect(conditionOf(words)).to.deep.equal(condition);
    expect(conditionOf(['701.InvSt', '==', 'RUNNING'])).to.deep.equal({
      name: '701.InvSt',
      operator: '=',
      bound: 'RUNNING',
    });
    for (const words of [[], ['701.W'], ['701.W', '5'], ['701.W', '<', 'much'], ['701.W', '=', '1', '2']])
      expect(() => conditionOf(words), words.join(' ')).to.throw(UsageError);
  });

  for (const [operator, bound, values] of [
    ['<', 5, [true, false, false]],
    ['<=', 5, [true, true, false]],
    ['=', 5, [false, true, false]],
    ['!=', 5, [true, false, true]],
    ['>=', 5, [false, true, true]],
    ['>', 5, [false, false, true]],
  ] as const)
    it(`${operator} compares with the bound`, () => {
      const condition = { name: '701.W', operator, bound };
      expect([4, 5, 6].map((value) => passes(condition, value, String(value)))).to.deep.equal(values);
    });

  it('= compares an enumeration by its name and its number', () => {
    expect(passes({ name: 'x', operator: '=', bound: 'RUNNING' }, 3, 'RUNNING')).to.equal(true);
    expect(passes({ name: 'x', operator: '=', bound: 3 }, 3, 'RUNNING')).to.equal(true);
    expect(passes({ name: 'x', operator: '!=', bound: 'RUNNING' }, 3, 'RUNNING')).to.equal(false);
  });

  it('members that every fault accepts are those of requests', () => {
    expect([...commonNames, 'kind']).to.have.members([...reservedMembers]);
  });

  it('a parameter of a fault has the type of the catalogue', () => {
    expect(parameterOf('701.W,704', 'array')).to.deep.equal(['701.W', 704]);
    expect(parameterOf('0.5', 'number')).to.equal(0.5);
    expect(parameterOf('5', 'string')).to.equal('5');
    expect([parameterOf('yes', 'boolean'), parameterOf('false', 'boolean')]).to.deep.equal([true, false]);
  });
});

describe('output of client commands', () => {
  it('a table aligns numbers to the right and has at most 100 columns', () => {
    const columns = [
      { head: 'P kW', cell: ([power]: readonly string[]) => power ?? '', isNumber: true },
      { head: 'text', cell: ([, text]: readonly string[]) => text ?? '' },
    ] as const;
    expect(
      table(columns, [
        ['1', 'a'],
        ['12.25', 'b'],
      ]),
    ).to.deep.equal([' P kW  text', '    1  a', '12.25  b']);
    const [, line = ''] = table(columns, [['1', 'x'.repeat(200)]]);
    expect(line).to.have.length(100).and.match(/…$/);
  });

  it('a value has its unit, an enumeration its name', () => {
    expect(valueText({ value: 50, symbol: null, unit: 'Pct' })).to.equal('50 %');
    expect(valueText({ value: 3, symbol: 'RUNNING', unit: null })).to.equal('RUNNING (3)');
    expect(valueText({ value: null, symbol: null, unit: 'W' })).to.equal('-');
  });

  it('colours are for terminals, and neither for NO_COLOR, TERM=dumb nor --no-color; FORCE_COLOR=1 forces them', () => {
    const [terminal, pipe] = [{ isTTY: true }, {}];
    expect(isColoured(terminal, {}, false)).to.equal(true);
    expect(isColoured(pipe, {}, false)).to.equal(false);
    expect(isColoured(terminal, { NO_COLOR: '1' }, false)).to.equal(false);
    expect(isColoured(terminal, { NO_COLOR: '' }, false)).to.equal(true);
    expect(isColoured(terminal, { TERM: 'dumb' }, false)).to.equal(false);
    expect(isColoured(pipe, { FORCE_COLOR: '1' }, false)).to.equal(true);
    expect(isColoured(terminal, { FORCE_COLOR: '1' }, true)).to.equal(false);
  });

  it('an age has one unit', () => {
    expect([45, 180, 7200, 200_000].map(ageText)).to.deep.equal(['45 s', '3 min', '2 h', '2 days']);
  });
});

describe('failures of client commands', () => {
  const url = 'http://127.0.0.1:1';
  for (const [facts, code] of [
    [{ code: 'not-reachable', detail: 'none' }, exitCodes.unreachable],
    [{ code: 'unknown', detail: '<html>', status: 404 }, exitCodes.unreachable],
    [{ code: 'timeout', detail: 'late' }, exitCodes.failed],
    [{ code: 'validation', detail: 'given 1' }, exitCodes.usage],
    [{ code: 'validation', detail: 'x: wrong', status: 422 }, exitCodes.refused],
    [{ code: 'conflict', detail: 'no', status: 409 }, exitCodes.refused],
  ] as const)
    it(`${facts.code} with ${'status' in facts ? `status ${facts.status}` : 'no answer'} ends with ${code}`, () => {
      expect(codeOf(new DerbenchError(facts))).to.equal(code);
    });

  it('a refusal has its code, each issue with its pointer, and the allowed values once', () => {
    const lines = (
      issues: readonly { name: string; detail: string; allowed?: readonly string[] }[],
      detail = 'two issues',
    ) => linesOf(new DerbenchError({ code: 'validation', status: 422, detail, issues }), url);
    expect(
      lines([
        { name: '/a', detail: 'is wrong', allowed: ['x', 'y'] },
        { name: '/b', detail: 'must be one of p, q', allowed: ['p', 'q'] },
      ]),
    ).to.deep.equal([
      'the simulator refused (validation, 422): two issues.',
      '  /a: is wrong; allowed: x, y',
      '  /b: must be one of p, q',
    ]);
    expect(lines([{ name: '/a', detail: 'is wrong', allowed: ['x'] }], '/a: is wrong')).to.deep.equal([
      'the simulator refused (validation, 422): /a: is wrong; allowed: x.',
    ]);
  });

  it('no answer says how to start a simulator or to name another', () => {
    const [line] = linesOf(new DerbenchError({ code: 'not-reachable', detail: `${url} gives no answer` }), url);
    expect(line).to.equal(
      `no simulator answers. ${url} gives no answer. Start one with "derbench", or give its address with --url or DERBENCH_URL.`,
    );
  });
});
