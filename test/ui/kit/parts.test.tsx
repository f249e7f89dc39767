import { expect } from 'chai';
import { Bar } from '../../../src/ui/kit/bars';
import { Notice, notice, say } from '../../../src/ui/kit/notice';
import { Slider } from '../../../src/ui/kit/slider';
import { Loading, NoValue } from '../../../src/ui/kit/states';
import { pass } from '../support/clock.ts';
import { all, leave, one, press, show, textOf } from '../support/page.tsx';
import { settle } from '../support/settle.ts';

describe('slider', () => {
  const sent: number[] = [];
  const draw = (value: number | null) =>
    show(
      <Slider
        name="Power limit"
        value={value}
        min={0}
        max={100}
        step={1}
        unit="%"
        limit={25}
        presets={[{ title: 'None', value: 100 }]}
        onSet={(next) => sent.push(next)}
      />,
    );
  const enter = async (text: string) => {
    const field = one('.number input');
    field.value = text;
    field.dispatchEvent(new Event('input', { bubbles: true }));
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    await settle();
  };

  beforeEach(() => sent.splice(0));
  afterEach(leave);

  it('shows the value in force, with its unit for readers, and the limit that wins', async () => {
    await draw(40);
    expect(one('[type=range]').value).to.equal('40');
    expect(one('[type=range]').getAttribute('aria-valuetext')).to.equal('40 %');
    expect(one('.limit').style.left).to.equal('25%');
    await draw(null);
    expect(one('[type=range]').getAttribute('aria-valuetext')).to.equal('no value');
  });

  it('sends on release, not while it is dragged', async () => {
    await draw(40);
    const slider = one('[type=range]');
    slider.value = '60';
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    await settle();
    expect([sent, one('.number input').value]).to.deep.equal([[], '60']);
    slider.dispatchEvent(new Event('change', { bubbles: true }));
    expect(sent).to.deep.equal([60]);
  });

  it('sends a typed number within its range, and a preset', async () => {
    await draw(40);
    await enter('55.5');
    await enter('');
    expect(all('[role=alert]')).to.deep.equal([]);
    await press('None');
    expect(sent).to.deep.equal([55.5, 100]);
  });

  it('refuses a number out of range and a text at the field, names the range, and goes back', async () => {
    await draw(40);
    const refusals: (readonly [string, string])[] = [];
    for (const text of ['100.1', '-5', 'much']) {
      await enter(text);
      refusals.push([textOf('[role=alert]'), one('.number input').value]);
    }
    expect(refusals).to.deep.equal([
      ['100.1 is out of range: enter 0 to 100 %.', '40'],
      ['\u22125 is out of range: enter 0 to 100 %.', '40'],
      ['much is no number: enter 0 to 100 %.', '40'],
    ]);
    expect(sent).to.deep.equal([]);
    await press('None');
    expect([all('[role=alert]'), sent]).to.deep.equal([[], [100]]);
  });
});

describe('bar of parts', () => {
  afterEach(leave);

  it('has the widths of one scale, and leaves out parts of zero', async () => {
    const parts = [
      { name: 'Solar', value: 30, look: 'solar' },
      { name: 'Wind', value: 0, look: 'wind' },
      { name: 'Hybrid', value: 10, look: 'hybrid' },
    ];
    await show(<Bar label="In" parts={parts} scale={80} text={(value) => `${value} kW`} />);
    expect(all('.bar i').map(({ style, className }) => [className, style.flexGrow])).to.deep.equal([
      ['solar', '0.375'],
      ['hybrid', '0.125'],
    ]);
    expect(one('.bar').getAttribute('aria-label')).to.equal('In: Solar 30 kW, Hybrid 10 kW');
  });
});

describe('content that is not there', () => {
  afterEach(leave);

  it('is a grey block of its size when it is late', async () => {
    await show(<Loading heights={[120, 40]} />);
    expect(all('.block')).to.deep.equal([]);
    expect(all('.loading > div').map(({ style }) => style.height)).to.deep.equal(['120px', '40px']);
    await pass(500);
    expect(all('.block')).to.have.lengthOf(2);
  });

  it('is a dash with the reason', async () => {
    await show(<NoValue reason="The station has no vehicle" />);
    expect(textOf()).to.equal('– The station has no vehicle');
  });
});

describe('notice with Undo', () => {
  afterEach(leave);

  it('stays for 10 s, and takes the change back once', async () => {
    let undone = 0;
    await show(<Notice />);
    say('Set to 5', () => (undone += 1));
    await pass(9000);
    await press('Undo');
    expect([undone, notice.value]).to.deep.equal([1, null]);
    say('Set to 6', () => (undone += 1));
    await pass(10_000);
    expect([undone, notice.value]).to.deep.equal([1, null]);
  });

  it('stays beside another message, and gives way to the next change', async () => {
    const undone: string[] = [];
    await show(<Notice />);
    say('Set to 5', () => undone.push('5'));
    say('capture complete');
    await settle();
    expect(all('.notice').map(({ textContent }) => textContent)).to.deep.equal(['Set to 5Undo', 'capture complete']);
    say('Set to 6', () => undone.push('6'));
    await settle();
    expect(all('.notice').map(({ textContent }) => textContent)).to.deep.equal(['capture complete', 'Set to 6Undo']);
    await press('Undo');
    expect(undone).to.deep.equal(['6']);
    await pass(4000);
    expect(all('.notice')).to.have.length(0);
  });
});
