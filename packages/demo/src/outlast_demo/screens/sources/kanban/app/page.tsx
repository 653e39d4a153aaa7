import { Board } from "@/components/board";
import { Avatar, AvatarFallback } from "@/components/ui/avatar";

const people = [
  { name: "AM", look: "bg-chart-1/25 text-chart-1" },
  { name: "JK", look: "bg-chart-2/25 text-chart-2" },
  { name: "SO", look: "bg-chart-3/25 text-chart-3" },
  { name: "LV", look: "bg-chart-4/25 text-chart-4" },
];

export default function Page() {
  return (
    <main className="relative isolate flex min-h-dvh flex-col bg-background">
      <div
        aria-hidden="true"
        className="absolute inset-x-0 top-0 -z-10 h-72 bg-[radial-gradient(60%_100%_at_20%_0%,color-mix(in_oklab,var(--primary)_18%,transparent),transparent)]"
      />
      <header className="flex flex-wrap items-center gap-x-6 gap-y-3 px-6 pt-8 pb-6 sm:px-10">
        <div>
          <p className="text-sm text-muted-foreground">Marketing / Spring launch</p>
          <h1 className="mt-1 text-3xl font-semibold tracking-tight">Launch board</h1>
        </div>
        <div className="ml-auto flex items-center gap-3">
          <span className="flex -space-x-2">
            {people.map((person) => (
              <Avatar key={person.name} className="size-8 bg-background ring-2 ring-background">
                <AvatarFallback className={person.look}>{person.name}</AvatarFallback>
              </Avatar>
            ))}
          </span>
          <span className="text-sm text-muted-foreground">4 people</span>
        </div>
      </header>
      <Board />
    </main>
  );
}
