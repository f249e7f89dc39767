import { expect } from 'chai';
import { KeptLayouts } from '../../src/app/kept-layouts.ts';
import { silentLogger } from '../../src/core/log/log.ts';
import type { JsonValue } from '../../src/core/store.ts';
import { layoutDigest, layoutPlaces, layoutTable, packTable } from '../../src/sunspec/map/layout-table.ts';
import { leanSizes, mapLayout } from '../support/map.ts';

describe('layouts of register maps over a restart', () => {
  const [layout, other] = [mapLayout(), mapLayout({ sizes: leanSizes })];
  const packed = packTable(layoutTable(layout));
  /** Layouts of earlier maps, oldest first. */
  const earlier = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`old${i}`, packed]));
  const digestsOf = (changes: JsonValue) => Object.keys(changes ?? {});

  it('are there for all devices that are to be restored; then the newest 50 without a device stay', () => {
    const layouts = new KeptLayouts(earlier(60), silentLogger);
    layouts.use(other);
    expect(layouts.placesOf('old0')).to.deep.equal(layoutPlaces(layout));
    const digests = digestsOf(layouts.changes());
    expect(digests)
      .to.have.length(51)
      .and.include.members(['old10', 'old59', layoutDigest(other)]);
    expect(layouts.placesOf('old9')).to.equal(null);
    expect(layouts.changes()).to.equal(null);
  });

  it('are not packed again', () => {
    const digest = layoutDigest(layout);
    const layouts = new KeptLayouts({ [digest]: 'as packed before', ...earlier(1) }, silentLogger);
    layouts.use(layout);
    expect(layouts.changes()).to.deep.equal({ ...earlier(1), [digest]: 'as packed before' });
  });
});
