"use client";

import { useState } from "react";
import { Bell, Bold, Italic, Terminal } from "lucide-react";

import { Accordion, AccordionContent, AccordionItem, AccordionTrigger } from "@/components/ui/accordion";
import { Alert, AlertDescription, AlertTitle } from "@/components/ui/alert";
import { Avatar, AvatarFallback, AvatarImage } from "@/components/ui/avatar";
import { Badge } from "@/components/ui/badge";
import {
  Breadcrumb,
  BreadcrumbEllipsis,
  BreadcrumbItem,
  BreadcrumbLink,
  BreadcrumbList,
  BreadcrumbPage,
  BreadcrumbSeparator,
} from "@/components/ui/breadcrumb";
import { Button } from "@/components/ui/button";
import {
  Card,
  CardAction,
  CardContent,
  CardDescription,
  CardFooter,
  CardHeader,
  CardTitle,
} from "@/components/ui/card";
import { AreaChart, BarChart, DonutChart, LineChart, Sparkline } from "@/components/ui/chart";
import { Checkbox } from "@/components/ui/checkbox";
import { Collapsible, CollapsibleContent, CollapsibleTrigger } from "@/components/ui/collapsible";
import {
  Dialog,
  DialogContent,
  DialogDescription,
  DialogFooter,
  DialogHeader,
  DialogTitle,
  DialogTrigger,
} from "@/components/ui/dialog";
import {
  DropdownMenu,
  DropdownMenuCheckboxItem,
  DropdownMenuContent,
  DropdownMenuItem,
  DropdownMenuLabel,
  DropdownMenuSeparator,
  DropdownMenuShortcut,
  DropdownMenuTrigger,
} from "@/components/ui/dropdown-menu";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { Popover, PopoverContent, PopoverTrigger } from "@/components/ui/popover";
import { Progress } from "@/components/ui/progress";
import { RadioGroup, RadioGroupItem } from "@/components/ui/radio-group";
import { ScrollArea } from "@/components/ui/scroll-area";
import { Select, SelectContent, SelectItem, SelectTrigger, SelectValue } from "@/components/ui/select";
import { Separator } from "@/components/ui/separator";
import {
  Sheet,
  SheetContent,
  SheetDescription,
  SheetFooter,
  SheetHeader,
  SheetTitle,
  SheetTrigger,
} from "@/components/ui/sheet";
import { Skeleton } from "@/components/ui/skeleton";
import { Slider } from "@/components/ui/slider";
import { Toaster, toast } from "@/components/ui/sonner";
import { Switch } from "@/components/ui/switch";
import {
  Table,
  TableBody,
  TableCaption,
  TableCell,
  TableFooter,
  TableHead,
  TableHeader,
  TableRow,
} from "@/components/ui/table";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "@/components/ui/tabs";
import { Textarea } from "@/components/ui/textarea";
import { Toggle } from "@/components/ui/toggle";
import { ToggleGroup, ToggleGroupItem } from "@/components/ui/toggle-group";
import { Tooltip, TooltipContent, TooltipTrigger } from "@/components/ui/tooltip";

const rows = ["Mon", "Tue", "Wed", "Thu"].map((at, index) => ({ at, one: index * 3 + 2, two: 9 - index * 2 }));
const series = [{ key: "one" }, { key: "two", label: "Two" }];

/** Every component of the kit at least once: for looking at, and for a test that nothing of it throws. */
export default function Page() {
  const [opened, setOpened] = useState(true);
  return (
    <main id="title" className="mx-auto grid max-w-6xl grid-cols-1 gap-6 p-8 md:grid-cols-3">
      <Card>
        <CardHeader className="border-b">
          <CardTitle>Buttons</CardTitle>
          <CardDescription>Each look and size</CardDescription>
          <CardAction>
            <Badge>New</Badge>
          </CardAction>
        </CardHeader>
        <CardContent className="flex flex-wrap gap-2">
          <Button>Default</Button>
          <Button variant="secondary">Secondary</Button>
          <Button variant="outline">Outline</Button>
          <Button variant="ghost">Ghost</Button>
          <Button variant="destructive">Delete</Button>
          <Button variant="link">Link</Button>
          <Button size="sm">Small</Button>
          <Button size="icon" aria-label="News">
            <Bell />
          </Button>
          <Button asChild>
            <a href="#link">A link</a>
          </Button>
          <Button disabled>Disabled</Button>
        </CardContent>
        <CardFooter className="gap-2 border-t">
          <Badge variant="secondary">Secondary</Badge>
          <Badge variant="outline">Outline</Badge>
          <Badge variant="destructive">Late</Badge>
        </CardFooter>
      </Card>
      <Card>
        <CardContent className="grid gap-4">
          <Label htmlFor="name">Name</Label>
          <Input id="name" placeholder="Ada" />
          <Input aria-label="Wrong" aria-invalid defaultValue="wrong" />
          <Textarea aria-label="Words" placeholder="Some words" />
          <Select defaultValue="a">
            <SelectTrigger aria-label="Choice" className="w-full">
              <SelectValue />
            </SelectTrigger>
            <SelectContent>
              <SelectItem value="a">First</SelectItem>
              <SelectItem value="b">Second</SelectItem>
            </SelectContent>
          </Select>
          <Slider defaultValue={[40]} aria-label="Amount" />
          <Progress value={60} aria-label="Done" />
        </CardContent>
      </Card>
      <Card>
        <CardContent className="grid gap-4">
          <Label>
            <Checkbox defaultChecked /> Checked
          </Label>
          <Label>
            <Checkbox checked="indeterminate" /> Some
          </Label>
          <Label>
            <Checkbox /> Not checked
          </Label>
          <Label>
            <Switch defaultChecked /> On
          </Label>
          <Label>
            <Switch /> Off
          </Label>
          <RadioGroup defaultValue="one">
            <Label>
              <RadioGroupItem value="one" /> One
            </Label>
            <Label>
              <RadioGroupItem value="two" /> Two
            </Label>
          </RadioGroup>
          <div className="flex gap-2">
            <Toggle aria-label="Bold" defaultPressed>
              <Bold />
            </Toggle>
            <ToggleGroup type="single" variant="outline" defaultValue="b">
              <ToggleGroupItem value="a" aria-label="Bold">
                <Bold />
              </ToggleGroupItem>
              <ToggleGroupItem value="b" aria-label="Italic">
                <Italic />
              </ToggleGroupItem>
            </ToggleGroup>
          </div>
        </CardContent>
      </Card>
      <Card>
        <CardContent className="grid gap-4">
          <Breadcrumb>
            <BreadcrumbList>
              <BreadcrumbItem>
                <BreadcrumbLink href="#home">Home</BreadcrumbLink>
              </BreadcrumbItem>
              <BreadcrumbSeparator />
              <BreadcrumbEllipsis />
              <BreadcrumbSeparator />
              <BreadcrumbItem>
                <BreadcrumbPage>Here</BreadcrumbPage>
              </BreadcrumbItem>
            </BreadcrumbList>
          </Breadcrumb>
          <Alert>
            <Terminal />
            <AlertTitle>Good to know</AlertTitle>
            <AlertDescription>Nothing is lost.</AlertDescription>
          </Alert>
          <Alert variant="destructive">
            <Terminal />
            <AlertTitle>Something is wrong</AlertTitle>
            <AlertDescription>Try again in a moment.</AlertDescription>
          </Alert>
          <div className="flex h-8 items-center gap-3">
            <Avatar>
              <AvatarImage src="data:image/gif;base64,R0lGODlhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs=" alt="" />
              <AvatarFallback>AB</AvatarFallback>
            </Avatar>
            <Separator orientation="vertical" />
            <Skeleton className="h-4 w-24" />
          </div>
          <Separator />
          <ScrollArea className="h-20 rounded-md border p-3">
            {Array.from({ length: 12 }, (_, index) => (
              <p key={index}>Line {index + 1}</p>
            ))}
          </ScrollArea>
          <Collapsible defaultOpen>
            <CollapsibleTrigger>More</CollapsibleTrigger>
            <CollapsibleContent>There is more.</CollapsibleContent>
          </Collapsible>
        </CardContent>
      </Card>
      <Card>
        <CardContent className="grid gap-4">
          <Accordion type="single" collapsible defaultValue="a">
            <AccordionItem value="a">
              <AccordionTrigger>Open</AccordionTrigger>
              <AccordionContent>What is inside</AccordionContent>
            </AccordionItem>
            <AccordionItem value="b">
              <AccordionTrigger>Closed</AccordionTrigger>
              <AccordionContent>Not seen</AccordionContent>
            </AccordionItem>
          </Accordion>
          <Tabs defaultValue="a">
            <TabsList>
              <TabsTrigger value="a">First</TabsTrigger>
              <TabsTrigger value="b">Second</TabsTrigger>
            </TabsList>
            <TabsContent value="a">The first</TabsContent>
            <TabsContent value="b">The second</TabsContent>
          </Tabs>
          <Tooltip>
            <TooltipTrigger asChild>
              <Button variant="outline">Tooltip</Button>
            </TooltipTrigger>
            <TooltipContent>A hint</TooltipContent>
          </Tooltip>
        </CardContent>
      </Card>
      <Card>
        <CardContent className="flex flex-wrap gap-2">
          <Dialog>
            <DialogTrigger asChild>
              <Button variant="outline">Dialog</Button>
            </DialogTrigger>
            <DialogContent>
              <DialogHeader>
                <DialogTitle>A dialog</DialogTitle>
                <DialogDescription>It has the attention.</DialogDescription>
              </DialogHeader>
              <DialogFooter>
                <Button>Good</Button>
              </DialogFooter>
            </DialogContent>
          </Dialog>
          <Sheet>
            <SheetTrigger asChild>
              <Button variant="outline">Sheet</Button>
            </SheetTrigger>
            <SheetContent>
              <SheetHeader>
                <SheetTitle>A sheet</SheetTitle>
                <SheetDescription>From the side</SheetDescription>
              </SheetHeader>
              <SheetFooter>
                <Button>Good</Button>
              </SheetFooter>
            </SheetContent>
          </Sheet>
          <DropdownMenu>
            <DropdownMenuTrigger asChild>
              <Button variant="outline">Menu</Button>
            </DropdownMenuTrigger>
            <DropdownMenuContent>
              <DropdownMenuLabel>Actions</DropdownMenuLabel>
              <DropdownMenuItem>
                Copy <DropdownMenuShortcut>⌘C</DropdownMenuShortcut>
              </DropdownMenuItem>
              <DropdownMenuCheckboxItem checked={opened} onCheckedChange={setOpened}>
                Opened
              </DropdownMenuCheckboxItem>
              <DropdownMenuSeparator />
              <DropdownMenuItem variant="destructive">Delete</DropdownMenuItem>
            </DropdownMenuContent>
          </DropdownMenu>
          <Popover>
            <PopoverTrigger asChild>
              <Button variant="outline">Popover</Button>
            </PopoverTrigger>
            <PopoverContent>Some more words</PopoverContent>
          </Popover>
          <Button variant="outline" onClick={() => toast("It is saved")}>
            Toast
          </Button>
          <Toaster />
        </CardContent>
      </Card>
      <Card className="md:col-span-2">
        <CardContent>
          <Table>
            <TableCaption>Of this week</TableCaption>
            <TableHeader>
              <TableRow>
                <TableHead>Day</TableHead>
                <TableHead>One</TableHead>
                <TableHead>Two</TableHead>
              </TableRow>
            </TableHeader>
            <TableBody>
              {rows.map((row) => (
                <TableRow key={row.at}>
                  <TableCell>{row.at}</TableCell>
                  <TableCell>{row.one}</TableCell>
                  <TableCell>{row.two}</TableCell>
                </TableRow>
              ))}
            </TableBody>
            <TableFooter>
              <TableRow>
                <TableCell>All</TableCell>
                <TableCell>26</TableCell>
                <TableCell>24</TableCell>
              </TableRow>
            </TableFooter>
          </Table>
        </CardContent>
      </Card>
      <Card>
        <CardContent>
          <DonutChart data={rows.map((row) => ({ label: row.at, value: row.one }))} size={120} center="26" />
          <Sparkline values={[3, 1, 4, 1, 5, 9]} className="mt-4" />
        </CardContent>
      </Card>
      {[AreaChart, LineChart, BarChart].map((Chart, index) => (
        <Card key={index}>
          <CardContent>
            <Chart data={rows} x="at" series={series} height={160} />
          </CardContent>
        </Card>
      ))}
    </main>
  );
}
