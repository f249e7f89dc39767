/** The fuzzer itself, and a few cases of every target that needs no sockets. */
import { expect } from 'chai';
import { createRandom } from '../../src/core/random.ts';
import { SimError } from '../../src/core/errors.ts';
import { mutated } from '../../soak/fuzz/mutate.ts';
import { shrunk } from '../../soak/fuzz/shrink.ts';
import { parserTarget } from '../../soak/fuzz/target.ts';
import { wireTargets } from '../../soak/fuzz/targets/wire.ts';
import { casesOf } from '../support/random.ts';

const cases = 200;

describe('the fuzzer', () => {
  it('makes the same inputs of the same seed', () => {
    const inputs = (seed: number) => {
      const random = createRandom(seed, 'test');
      return Array.from({ length: 100 }, () =>
        mutated([Buffer.from('{"a": 12}'), Buffer.from('b')], true, random).toString(),
      );
    };
    expect(inputs(1)).to.deep.equal(inputs(1));
    expect(inputs(1)).not.to.deep.equal(inputs(2));
    expect(new Set(inputs(1)).size).to.be.greaterThan(60);
  });

  it('makes an input that fails small', async () => {
    const input = Buffer.from(`${'x'.repeat(300)}<!${'y'.repeat(100)}`);
    const smallest = await shrunk(input, (shorter) => Promise.resolve(shorter.includes('<!')));
    expect(smallest.toString()).to.equal('<!');
  });

  it('takes a refusal for an answer, and anything else for a failure', async () => {
    const target = parserTarget(
      'test',
      () => [''],
      (text) => {
        if (text === 'refused') throw new SimError('CONFIG_INVALID', 'no');
        if (text === 'internal') throw new SimError('INTERNAL', 'oh');
        if (text === 'broken') throw new TypeError('undefined is no function');
      },
    );
    const subject = await target.open();
    const feed = (text: string) => () => subject.feed(Buffer.from(text));
    expect(feed('refused')).not.to.throw();
    expect(feed('internal')).to.throw('oh');
    expect(feed('broken')).to.throw('no function');
  });

  for (const target of wireTargets)
    it(`finds nothing in ${target.name} with some cases`, async () => {
      const subject = await target.open();
      const samples = target.samples();
      const random = casesOf('fuzz', target.name);
      for (const sample of samples) await subject.feed(sample);
      for (let n = 0; n < cases; n += 1) await subject.feed(mutated(samples, target.isText, random));
      await subject.alive();
      await subject.close();
      expect(samples).not.to.deep.equal([]);
    });
});
