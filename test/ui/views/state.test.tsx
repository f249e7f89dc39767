import { expect } from 'chai';
import StateView from '../../../src/ui/views/state/state';
import { pass } from '../support/clock.ts';
import { Daemon, refusal } from '../support/daemon.ts';
import { address, all, button, leave, press, show, textOf, tick, type } from '../support/page.tsx';
import { answerForSite } from '../support/site.ts';
import { accept, startPage } from '../support/stream.ts';

describe('state', () => {
  let daemon: Daemon;
  let questions: string[] = [];
  let confirms = true;

  before(startPage);
  beforeEach(async () => {
    await accept();
    daemon = new Daemon();
    answerForSite(daemon);
    questions = [];
    confirms = true;
    globalThis.confirm = (question) => {
      questions.push(question ?? '');
      return confirms;
    };
    await address('#/state');
  });
  afterEach(async () => {
    await leave();
    await pass(3000);
  });

  const example = () => daemon.exampleOf('GET', 'state');
  const shown = (members: object) => {
    daemon.on('GET state', () => ({ ...example(), ...members }));
    return show(<StateView />);
  };

  it('shows folder, size, last write and snapshots', async () => {
    await show(<StateView />);
    const text = textOf();
    for (const part of [
      '/var/lib/derbench',
      '48.2 kB, 312 records',
      '2026-03-01 09:31:12 UTC',
      'before-test',
      '21.0 kB',
    ])
      expect(text).to.include(part);
    expect(
      all('[role=alert]')
        .map((each) => each.textContent)
        .join(''),
    ).to.equal('');
  });

  it('warns of a disk that fails, in the words of the daemon', async () => {
    await shown({ failure: 'ENOSPC: no space left on device' });
    expect(textOf('[role=alert]')).to.include('ENOSPC: no space left on device');
  });

  it('says how to keep state where none is kept, and offers nothing', async () => {
    await shown({
      configured: false,
      folder: null,
      format: null,
      octets: null,
      records: null,
      last_save: null,
      snapshots: [],
    });
    expect(textOf()).to.include('--state_dir DIR');
    expect(all('button')).to.deep.equal([]);
  });

  it('takes a snapshot', async () => {
    await show(<StateView />);
    await type('name', 'x.1');
    await press('Take snapshot');
    await type('name', 'x.1');
    await tick('overwrite', true);
    await press('Take snapshot');
    expect(daemon.to('POST state/snapshot').map(({ body }) => body)).to.deep.equal([
      { name: 'x.1' },
      { name: 'x.1', overwrite: true },
    ]);
  });

  it('restores and deletes a snapshot when the question is confirmed, and only then', async () => {
    await show(<StateView />);
    confirms = false;
    await press('Restore before-test');
    await press('Delete before-test');
    expect(questions).to.have.length(2);
    expect(questions[0]).to.include('before-test').and.to.include('lost');
    expect(daemon.asked.filter(({ method }) => method !== 'GET')).to.deep.equal([]);
    confirms = true;
    await press('Restore before-test');
    expect(daemon.to('POST state/restore').map(({ body }) => body)).to.deep.equal([{ name: 'before-test' }]);
    await press('Delete before-test');
    expect(daemon.to('DELETE state/snapshots/before-test')).to.have.length(1);
    expect(daemon.strange).to.deep.equal([]);
  });

  it('shows a refusal at its button', async () => {
    daemon.on('POST state/restore', () => refusal(409, 'the scenario "volt-watt" runs', [], 'conflict'));
    await show(<StateView />);
    await press('Restore before-test');
    expect(textOf('[role=alert].problem')).to.include('volt-watt');
  });

  it('offers no restart that cannot succeed', async () => {
    await shown({ can_restore: false });
    expect(button('Restore before-test').disabled).to.equal(true);
    expect(button('Restore before-test').title).to.include('cannot be built anew');
    const [snapshot] = example().snapshots;
    await leave();
    await pass(3000);
    await shown({ snapshots: [{ ...snapshot, damage: 'its checksum does not fit', taken_at: null, version: null }] });
    expect(button('Restore before-test').title).to.include('checksum');
    expect(button('Delete before-test').disabled).to.equal(false);
    expect(textOf('tbody')).to.include('damaged');
  });
});
