import { Card, CardContent, CardDescription, CardHeader, CardTitle } from "@/components/ui/card";

const weeks = 52;

/** The sunshine of each day, from 0 to 4; the same numbers on every visit. */
function level(week: number, day: number) {
  const season = (1 - Math.cos((week / weeks) * 2 * Math.PI)) / 2;
  const weather = Math.abs(Math.sin(week * 12.9898 + day * 78.233) * 43758.5453) % 1;
  return Math.min(4, Math.floor((season * 0.7 + weather * 0.45) * 5));
}

const looks = ["bg-muted", "bg-chart-3/25", "bg-chart-3/45", "bg-chart-3/70", "bg-chart-3"];

export function YearHeatmap() {
  return (
    <Card>
      <CardHeader>
        <CardTitle>Every day of sun</CardTitle>
        <CardDescription>Each square is a day; brighter squares mean more power</CardDescription>
      </CardHeader>
      <CardContent className="overflow-x-auto pb-1">
        <div
          className="grid min-w-[46rem] auto-cols-fr grid-flow-col grid-rows-7 gap-1"
          role="img"
          aria-label="Sunny days of the year"
        >
          {Array.from({ length: weeks * 7 }, (_, index) => (
            <span
              key={index}
              className={`aspect-square rounded-[4px] transition-transform hover:scale-125 ${looks[level(Math.floor(index / 7), index % 7)]}`}
            />
          ))}
        </div>
        <div className="mt-4 flex items-center justify-end gap-1.5 text-xs text-muted-foreground">
          Less
          {looks.map((look) => (
            <span key={look} className={`size-3 rounded-[3px] ${look}`} />
          ))}
          More
        </div>
      </CardContent>
    </Card>
  );
}
