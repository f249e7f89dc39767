import { expect } from 'chai';
import { SimError, shortageOf } from '../../src/core/errors.ts';
import { lazily } from '../../src/core/lazy.ts';

const code = (work: () => Promise<unknown>): Promise<unknown> =>
  work().then(
    () => 'done',
    (error: unknown) => (error as { code?: unknown }).code,
  );

const lackOf = (name: string) => Object.assign(new Error(`${name}: open '/somewhere'`), { code: name });

describe('parts that are loaded when they are needed', () => {
  it('load once, also for callers that come meanwhile', async () => {
    let loads = 0;
    const part = lazily(
      () => Promise.resolve({ number: ++loads }),
      () => undefined,
    );
    const [first, second] = await Promise.all([part(), part()]);
    expect(first).to.equal(second);
    expect(await part()).to.deep.equal({ number: 1 });
  });

  it('do not keep a failure, of the load or of the check before it', async () => {
    const course = ['check fails', 'load fails', 'goes well'];
    let loads = 0;
    const part = lazily(
      () => {
        loads += 1;
        if (course[0] === 'load fails') throw lackOf('EMFILE');
        return 'part';
      },
      () => {
        if (course[0] === 'check fails') throw new SimError('SHORTAGE', 'full');
      },
    );
    expect(await code(part)).to.equal('SHORTAGE');
    expect(loads).to.equal(0);
    course.shift();
    expect(await code(part)).to.equal('EMFILE');
    course.shift();
    expect(await part()).to.equal('part');
    expect(loads).to.equal(2);
  });
});

describe('a lack of file descriptors', () => {
  it('is told by the code of an error or of its cause', () => {
    for (const error of [lackOf('EMFILE'), lackOf('ENFILE'), new Error('outer', { cause: lackOf('EMFILE') })])
      expect(shortageOf(error)).to.include({ code: 'SHORTAGE' });
    expect(shortageOf(lackOf('EMFILE'))?.message).to.contain('too many open files');
    for (const other of [lackOf('EACCES'), new Error('plain'), 'EMFILE', undefined])
      expect(shortageOf(other)).to.equal(null);
  });
});
