/** The curves of the trip models 707 to 710 that are in force. */

interface AnyCurve {
  readonly ActPt: number | null;
  readonly Pt: readonly {
    readonly V?: number | null;
    readonly Hz?: number | null;
    readonly Tms?: number | null;
  }[];
}

type CurveName = 'MustTrip' | 'MayTrip' | 'MomCess';

interface TripModel {
  readonly Ena: string | null;
  readonly Crv: readonly Readonly<Record<CurveName, AnyCurve>>[];
}

/** A threshold in percent of VNom or Hz, and the time for which it may be exceeded. */
export interface TripPoint {
  readonly limit: number;
  readonly seconds: number;
}

/** Curves of one trip model; `enabled` false: none acts. */
export interface TripSetting {
  readonly enabled: boolean;
  readonly points: readonly TripPoint[];
}

function tripPoints(curve: AnyCurve | undefined): TripPoint[] {
  return (curve?.Pt ?? [])
    .slice(0, curve?.ActPt ?? 0)
    .map((point) => ({ limit: point.V ?? point.Hz ?? 0, seconds: point.Tms ?? 0 }));
}

/** The points of the named curves of a model together. */
export function tripSetting({ Ena, Crv: [set] }: TripModel, names: readonly CurveName[]): TripSetting {
  return { enabled: Ena === 'ENABLED', points: names.flatMap((name) => tripPoints(set?.[name])) };
}
