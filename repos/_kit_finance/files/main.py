

def main():
    parser = argparse.ArgumentParser(description="«Figures as the rules want them|Works out the figures|One line a figure»")
    parser.add_argument("names", nargs="*", help="«default: all|all when none is named»")
    parser.add_argument("--$opt_detail", dest="detail", action="store_true", help="«how a figure comes about|the steps behind it»")
    parser.add_argument("--$opt_write", dest="target", help="«JSON file for the figures|where to keep them»")
    options = parser.parse_args()
    found = {}
    for name in options.names or $f_names():
        $case = $f_load(name)
        if options.detail:
            for line in $f_detail($case):
                print(name, *line, sep="  ")
            continue
        found[name] = $f_figures($case)
        print(f"{name:<14}", *(f"{key}={value:,}" for key, value in found[name].items()), sep="  ")
    if options.target:
        $f_dump(options.target, found)


if __name__ == "__main__":
    main()
