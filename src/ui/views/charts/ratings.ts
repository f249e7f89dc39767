import { useEffect, useState } from 'preact/hooks';
import { get, perform, Problem } from '../../api/call';
import type { Ratings } from './panels';

const unknown: Ratings = { powerKw: null, voltageV: null };

/** Largest rating and nominal voltage of a device. */
async function ratingsOf(device: number): Promise<Ratings> {
  const { settings, ratings, ac_type: kind } = await perform(get('nameplate', { query: { device } }));
  const va = settings.va_max_va ?? ratings.va_max_va ?? ratings.w_max_w;
  const lineV = settings.v_nom_v ?? ratings.v_nom_v;
  return {
    powerKw: va === null ? null : va / 1000,
    voltageV: lineV === null ? null : kind === 'three_phase' ? lineV / Math.sqrt(3) : lineV,
  };
}

function max(values: readonly (number | null)[]): number | null {
  const numbers = values.filter((value) => value !== null);
  return numbers.length === 0 ? null : Math.max(...numbers);
}

/** Ratings of the devices of a chart, read once; unknown ones leave the spans by unit. */
export function useRatings(devices: readonly number[]): Ratings {
  const [ratings, setRatings] = useState(unknown);
  useEffect(() => {
    let isCurrent = true;
    Promise.all(devices.map(ratingsOf)).then(
      (all) => {
        if (!isCurrent) return;
        setRatings({
          powerKw: max(all.map(({ powerKw }) => powerKw)),
          voltageV: max(all.map(({ voltageV }) => voltageV)),
        });
      },
      (error: unknown) => {
        if (!(error instanceof Problem)) throw error;
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [devices.join()]);
  return ratings;
}
