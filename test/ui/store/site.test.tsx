import { expect } from 'chai';
import { DevicePicker } from '../../../src/ui/kit/choices';
import {
  daemon as run,
  isOutdatedPage,
  followDaemon,
  useClock,
  useClockOwner,
  useDevice,
  useOverview,
} from '../../../src/ui/store/site';
import { notice, say } from '../../../src/ui/kit/notice';
import { snapshotOf } from '../../../src/ui/store/stream';
import { pass } from '../support/clock.ts';
import { Daemon, refusal } from '../support/daemon.ts';
import { address, all, leave, one, show, textOf } from '../support/page.tsx';
import { settle } from '../support/settle.ts';
import { answerForSite, telemetryOf } from '../support/site.ts';
import { accept, end, send, startPage } from '../support/stream.ts';

function Site() {
  const device = useDevice();
  const count = useOverview()?.devices.length;
  const clock = useClock();
  return (
    <>
      <b>{device?.name ?? 'none'}</b>
      <i>{count ?? 'unknown'}</i>
      <u>
        {clock?.clock_time} {useClockOwner()}
      </u>
      <DevicePicker accept={({ asset_type }) => asset_type !== 'pv'} />
    </>
  );
}

describe('what all views know of the site', () => {
  let daemon: Daemon;

  before(startPage);

  beforeEach(async () => {
    daemon = new Daemon();
    answerForSite(daemon);
    await accept();
  });

  afterEach(async () => {
    await leave();
    await pass(3000);
  });

  it('is the first device where the address names none, and that of the address else', async () => {
    await address('#/devices');
    await show(<Site />);
    expect(textOf('b')).to.equal('Device pv');
    expect(textOf('i')).to.equal('6');
    await address('#/inputs/grid?device=3');
    expect(textOf('b')).to.equal('Device fuelcell');
  });

  it('has no device in the place of one that is not there', async () => {
    await address('#/inputs/grid?device=42');
    await show(<Site />);
    expect(textOf('b')).to.equal('none');
    expect((one('select') as Element as HTMLSelectElement).selectedOptions[0]?.textContent).to.equal('no such device');
  });

  it('offers the devices that a view is for, and keeps the choice in the address', async () => {
    await address('#/inputs/grid?device=1');
    await show(<Site />);
    expect(all('option').map((each) => each.textContent)).to.deep.equal([
      '1 Device battery',
      '2 Device wind',
      '3 Device fuelcell',
      '4 Device hybrid-dc',
      '5 Device evse',
    ]);
    const select = one('select');
    select.value = '4';
    select.dispatchEvent(new Event('change', { bubbles: true }));
    await settle();
    expect(location.hash).to.equal('#/inputs/grid?device=4');
    expect(textOf('b')).to.equal('Device hybrid-dc');
  });

  it('has the clock and who holds it', async () => {
    await show(<Site />);
    expect(textOf('u')).to.equal('12:00:01 High voltage');
  });

  it('forgets the telemetry of devices that the overview has no longer', async () => {
    await send({ ...telemetryOf(daemon, 1)[0], device_index: 77 });
    expect(snapshotOf(77)).not.to.equal(undefined);
    await show(<Site />);
    expect(snapshotOf(77)).to.equal(undefined);
  });

  it('asks for another device when the first one was removed', async () => {
    await address('#/overview');
    await show(<Site />);
    const overview = { ...daemon.replyOf('GET', 'overview'), device_index: 3 };
    daemon.on('GET devices', () => ({ devices: [{ device_index: 3 }] }));
    daemon.on('GET overview', ({ query }) =>
      query['device'] === '3' ? overview : refusal(404, 'There is no device 0.'),
    );
    await pass(6000);
    expect(daemon.to('GET overview').at(-1)?.query).to.deep.equal({ device: '3' });
    expect(textOf('i')).to.equal('1');
  });
});

describe('run of the daemon', () => {
  before(startPage);

  it('is read each time that the stream opens', async () => {
    await end();
    const daemon = new Daemon();
    followDaemon();
    expect(run.value).to.equal(null);
    await accept();
    const { started_at, build_id } = daemon.exampleOf('GET', 'server-info');
    expect(run.value).to.equal(`${started_at} ${build_id}`);
    expect(isOutdatedPage.value).to.equal(false);
    daemon.on('GET server-info', () => ({ started_at: 'later', build_id: 'b2' }));
    await end();
    await accept();
    expect(run.value).to.equal('later b2');
    expect(isOutdatedPage.value).to.equal(true);
  });

  it('stays when the daemon does not say it', async () => {
    const before = run.value;
    new Daemon().on('GET server-info', () => refusal(503, 'The simulator is stopping.'));
    await end();
    await accept();
    expect(run.value).to.equal(before);
  });
});

describe('message at the foot of the page', () => {
  it('goes away after four seconds, counted from the newest one', async () => {
    say('first');
    await pass(3000);
    say('second');
    await pass(3000);
    expect(notice.value?.text).to.equal('second');
    await pass(1000);
    expect(notice.value).to.equal(null);
  });
});
